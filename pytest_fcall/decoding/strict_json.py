"""Strict JSON from untrusted text, and the arguments of calls in it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import NoReturn

from pytest_fcall.core.values import HUGE_INTEGER, MAX_INTEGER_BITS, Json, is_flat_object
from pytest_fcall.decoding.unreadable_text import (
    MAX_DEPTH,
    TOO_DEEP,
    Unreadable,
    quote_short,
    repeated_key_notes,
    repeated_keys,
)

_TYPE_NAMES: Mapping[type, str] = {
    list: "a list",
    tuple: "a list",
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    type(None): "null",
}


class NotJson(Unreadable):
    """A text is not JSON, or not the JSON that is needed."""


def parse_json(text: str) -> tuple[Json, tuple[str, ...]]:
    """Give the value of a JSON text, and notes on repeated keys, of which the last one counts.

    Raises NotJson, also for NaN, infinities, trailing text, integers with thousands of digits, and nesting deeper than
    `MAX_DEPTH`.
    """
    repeated: list[str] = []

    def as_object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        value = dict(pairs)
        if len(value) < len(pairs):
            repeated.extend(repeated_keys(key for key, _ in pairs))
        return value

    try:
        value: Json = json.loads(
            text, object_pairs_hook=as_object, parse_float=_finite_float, parse_constant=_refuse_constant
        )
    except json.JSONDecodeError as error:
        raise NotJson(f"{error.msg} (character {error.pos + 1}, {_around(text, error.pos)})") from None
    except RecursionError:
        raise NotJson(TOO_DEEP) from None
    except NotJson:
        raise
    except ValueError:
        raise NotJson(HUGE_INTEGER) from None
    # Each level needs a bracket in the text, so that ordinary texts need no walk.
    if text.count("{") + text.count("[") > MAX_DEPTH:
        check_json_value(value)
    return value, repeated_key_notes("key", repeated)


def check_json_value(value: object) -> None:
    """Raise NotJson unless JSON can represent `value` and it is nested at most `MAX_DEPTH` levels deep."""
    level: list[object] = [value]
    for _ in range(MAX_DEPTH + 1):
        # By identity: a value that an app uses in many places is walked once.
        level = list({id(item): item for each in level for item in _items(each)}.values())
        if not level:
            return
    raise NotJson(TOO_DEEP)


def _items(value: object) -> Sequence[object]:
    if value is None or isinstance(value, (str, bool)):
        return ()
    if isinstance(value, int):
        if value.bit_length() > MAX_INTEGER_BITS:
            raise NotJson(HUGE_INTEGER)
        return ()
    if isinstance(value, (dict, Mapping)):
        for key in value:
            if not isinstance(key, str):
                raise NotJson(f"it has a key of type {type(key).__name__}")
        return list(value.values())
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJson(f"it contains {value}, which is not a JSON number")
        return ()
    raise NotJson(f"it contains a value of type {type(value).__name__}")


def _finite_float(digits: str) -> float:
    if math.isfinite(number := float(digits)):
        return number
    raise NotJson(f"it contains {quote_short(digits)}, which is too large for a number")


def _refuse_constant(name: str) -> NoReturn:
    raise NotJson(f"it contains {name}, which is not a JSON number")


def _around(text: str, position: int) -> str:
    if position >= len(text):
        return f"where it ends after {text[-30:]!r}"
    return f"at {quote_short(text[position : position + 31], 30)}"


def arguments_from_wire(raw: Json) -> tuple[Mapping[str, Json], tuple[str, ...]]:
    """Give the arguments of a call as an API sends them, JSON text or an object, and notes on what was read leniently.

    Raises NotJson.
    """
    if isinstance(raw, str) and raw.strip():
        value, notes = parse_json(raw)
        return arguments_from_value(value), notes
    if raw is None or isinstance(raw, str):
        return {}, ("The arguments are empty; read as no arguments.",)
    if not is_flat_object(raw):
        check_json_value(raw)
    return arguments_from_value(raw), ()


def arguments_from_value(value: Json) -> Mapping[str, Json]:
    """Give the arguments of a call that was itself read from JSON. Raises NotJson unless they are an object."""
    if isinstance(value, (dict, Mapping)):
        return value
    if isinstance(value, str) and value.lstrip().startswith("{"):
        raise NotJson("they are JSON inside a JSON string: encoded twice")
    raise NotJson(
        f"they are {_TYPE_NAMES.get(type(value), f'of type {type(value).__name__}')}, not an object of named values"
    )
