"""JSON from files, processes and servers: read with one kind of error, its fields by their types, and written."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, Final, NoReturn, TypeVar

from pytest_fcall.core.values import Json

T = TypeVar("T")

_TYPE_NAMES: Mapping[type, str] = {
    str: "a string",
    int: "an integer",
    bool: "true or false",
    dict: "a mapping",
    list: "a list",
}


class JsonEncoder:
    """Encodes as `json.JSONEncoder` does, which looks for a value inside itself before each list and each object.

    That takes a fifth of its time, so here it looks only where the nesting has no end.
    """

    __slots__ = ("_careful", "_quick")

    def __init__(
        self,
        *,
        sort_keys: bool = False,
        ensure_ascii: bool = True,
        allow_nan: bool = True,
        separators: tuple[str, str] | None = None,
        default: Callable[[Any], Any] | None = None,
    ) -> None:
        self._quick, self._careful = (
            json.JSONEncoder(
                check_circular=check_circular,
                sort_keys=sort_keys,
                ensure_ascii=ensure_ascii,
                allow_nan=allow_nan,
                separators=separators,
                default=default,
            )
            for check_circular in (False, True)
        )

    def encode(self, value: Any) -> str:
        """The JSON text of a value. Raises TypeError, ValueError and RecursionError where there is none."""
        try:
            return self._quick.encode(value)
        except RecursionError:
            return self._careful.encode(value)


# Text stays readable in a diff. Escaped are the characters that mislead a reader or an editor: controls, invisible and
# direction marks, line separators; and lone surrogates, which UTF-8 cannot represent.
_UNREADABLE = (
    "[\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_READABLE: Final = JsonEncoder(sort_keys=True, ensure_ascii=False)


class NotJsonNumber(ValueError):
    """NaN or an infinity, which Python reads but JSON does not have."""


def refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and infinities. Raises NotJsonNumber."""
    raise NotJsonNumber(f"JSON with {name}, which is not a JSON number")


def read_json(
    text: str | bytes, constant: Callable[[str], Json] | None = None, number: Callable[[str], Json] | None = None
) -> Json:
    """The value of JSON text; bytes are UTF-8. Raises ValueError, and nothing else: its text says what it is instead.

    `constant` gives the value of NaN and of infinities, or refuses them; by default they are floats. `number` does so
    for numbers with a point or an exponent.
    """
    try:
        read = text if isinstance(text, str) else text.decode("utf-8-sig")
        value: Json = json.loads(read, parse_constant=constant, parse_float=number)
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: {error.reason} at byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}") from None
    except NotJsonNumber:
        raise
    except RecursionError:
        raise ValueError("JSON that is nested too deeply") from None
    except ValueError:  # Python's limit on the digits of an integer
        raise ValueError("JSON with a number of thousands of digits") from None
    return value


def read_own_json(text: str | bytes) -> Json:
    """The value of JSON text that we wrote, and can write again: no NaN and no infinity. Raises as `read_json` does."""
    return read_json(text, refuse_constant, _finite)


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise NotJsonNumber(f"JSON with {digits[:20]}, which is too large a number")
    return number


def json_or_text(text: str) -> Json:
    """The value of a text that is JSON; the text itself if it is none."""
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def readable_json(value: Json) -> str:
    """Give the canonical readable JSON text of a value, in one line.

    Raises ValueError, TypeError or RecursionError where JSON cannot represent the value.
    """
    text = _READABLE.encode(value)
    if text.isascii() and "\x7f" not in text:  # most texts are, and the search takes as long as the encoding
        return text
    return re.sub(_UNREADABLE, lambda match: json.dumps(match[0])[1:-1], text)


class DamagedData(ValueError):
    """The data does not have the expected form. The message names the part."""


class LaterVersion(DamagedData):
    """The data is in a version of its format that only a later pytest-fcall reads."""

    def __init__(self, version: int, newest: int) -> None:
        super().__init__(
            f"a later pytest-fcall wrote it in version {version} of its format, and this one reads up to {newest}: "
            "update pytest-fcall"
        )


def as_mapping(value: Json, name: str) -> Mapping[str, Json]:
    """Return `value`. Raises DamagedData, with `name`, unless it is a mapping."""
    if not isinstance(value, Mapping):
        raise DamagedData(f"{name} is not a mapping")
    return value


def optional_field(data: Mapping[str, Json], key: str, kind: type[T]) -> T | None:
    """Return the field, None where it is absent or null. A bool is not an integer."""
    value = data.get(key)
    if value is None:
        return None
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        raise DamagedData(f"`{key}` is not {_TYPE_NAMES[kind]}")
    return value


def required_field(data: Mapping[str, Json], key: str, kind: type[T]) -> T:
    """Return the field. Raises DamagedData where it is absent or null."""
    value = optional_field(data, key, kind)
    if value is None:
        raise DamagedData(f"`{key}` is missing")
    return value


def check_version(data: Mapping[str, Json], key: str, newest: int) -> None:
    """Raise LaterVersion for data in a later version than `newest`, and DamagedData where the field is no version."""
    if (version := required_field(data, key, int)) > newest:
        raise LaterVersion(version, newest)


def optional_list_of_strings(data: Mapping[str, Json], key: str) -> Sequence[str]:
    """Return the field, a list of strings; an empty one where it is absent or null."""
    value = optional_field(data, key, list) or []
    if not all(isinstance(item, str) for item in value):
        raise DamagedData(f"`{key}` is not a list of strings")
    return value


def optional_number(data: Mapping[str, Json], key: str) -> float | None:
    """Return the field as a float, None where it is absent or null."""
    value = data.get(key)
    if value is None:
        return None
    if not isinstance(value, float | int) or isinstance(value, bool) or abs(value) > sys.float_info.max:
        raise DamagedData(f"`{key}` is not a number")
    return float(value)


def optional_strings(data: Mapping[str, Json], key: str) -> Mapping[str, str] | None:
    """Return the field, a mapping to strings, or None where it is absent or null."""
    value = optional_field(data, key, dict)
    if value is not None and not all(isinstance(item, str) for item in value.values()):
        raise DamagedData(f"`{key}` is not a mapping to strings")
    return value
