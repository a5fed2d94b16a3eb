"""Plain JSON values, places in them, and chat messages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Final, TypeAlias, TypeGuard

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""A JSON value as Python values. This package always distinguishes `bool` from `int`."""

Message: TypeAlias = Mapping[str, Json]
"""One chat message in OpenAI's form.

An image that a case names by path is the content part `{"type": "image_file", "image_file": {"path", "media_type",
"sha256"}}`; backends convert it to the format of their API."""

MAX_INTEGER_BITS: Final = 14_000
"""The size of an integer: about as many digits as Python reads and writes."""
HUGE_INTEGER: Final = "it contains an integer with thousands of digits"
"""The fault of a text with a larger one."""

_ORDINARY_INTEGER_BITS = 64
_LONGEST_NAME = 100
_PLAIN_NAME = re.compile(rf"[\w$-]{{1,{_LONGEST_NAME}}}", re.ASCII)


def mapping_or_empty(value: object) -> Mapping[str, Json]:
    """The value if it is a mapping; an empty one for any other value."""
    return value if isinstance(value, Mapping) else {}


def path_text(path: Sequence[str | int]) -> str:
    """A path in arguments, such as `stops[0].city`. Names with other characters are in quotes."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _PLAIN_NAME.fullmatch(step):
            parts.append(f".{step}" if parts else step)
        else:
            parts.append(f"[{step[:_LONGEST_NAME]!r}]")
    return "".join(parts)


def is_strings(value: object) -> TypeGuard[list[str]]:
    """Give whether a value is a list of strings."""
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def is_flat_object(value: object) -> TypeGuard[dict[str, Json]]:
    """Give whether a value is a JSON object of nothing but ASCII strings and ordinary numbers, booleans and null.

    Arguments of most calls are: they need no closer look, which takes twenty times as long.
    """
    if type(value) is not dict:
        return False
    for key, item in value.items():
        if type(key) is not str or not key.isascii():
            return False
        kind = type(item)
        if kind is str:
            if not item.isascii():
                return False
        elif kind is int:
            if item.bit_length() > _ORDINARY_INTEGER_BITS:
                return False
        elif not (item is None or kind is bool or (kind is float and isfinite(item))):
            return False
    return True
