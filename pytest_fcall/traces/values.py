"""What strangers wrote, made safe to look into."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from pytest_fcall.backends.openai.fields import items, mapping, text
from pytest_fcall.core import Json
from pytest_fcall.traces.record import NotSaid

__all__ = ["DEEPEST", "first", "items", "mapping", "parsed", "read_json", "text"]

DEEPEST: Final = 80
"""So deep may a value be nested: a case file holds no deeper one."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def read_json(line: str) -> Json:
    """Read JSON text; ValueError says what is wrong with it. NaN is null, broken characters are `\ufffd`."""
    try:
        value: Json = json.loads(line, parse_constant=lambda _: None)
        return _mended(value) if "\\ud" in line or "\\uD" in line else value
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON: {error.msg.removesuffix(' at').lower()}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError:
        raise ValueError("it holds a number of thousands of digits") from None


def parsed(value: Json) -> Json:
    """The value, or what its text means where that is JSON: exports often hold JSON in texts."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[", '"')):
        return value
    try:
        return read_json(value)
    except ValueError:
        return value


def first(told: Mapping[str, Json], *names: str) -> Json:
    """The first of these fields that says anything."""
    return next((told[name] for name in names if told.get(name) not in (None, "", [], {})), None)


def check_depth(value: Json) -> None:
    """Refuse, as NotSaid, a value that no case file can hold."""
    level: list[Json] = [value]
    for _ in range(DEEPEST):
        level = [inner for each in level if not isinstance(each, str) for inner in _inside(each)]
        if not level:
            return
    raise NotSaid("a value in it is nested too deeply")


def _inside(value: Json) -> list[Json]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list | tuple) else []


def _mended(value: Json) -> Json:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_SURROGATE.sub("\ufffd", key): _mended(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_mended(item) for item in value]
    return value
