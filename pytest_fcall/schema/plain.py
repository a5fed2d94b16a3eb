"""Data from outside as plain JSON values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pytest_fcall.core import Json
from pytest_fcall.schema.errors import SchemaError

DEEPEST = 100
"""Steps of a path into a schema: far beyond any honest one, well within every recursion limit."""

_MOST_BITS = 4096


def plain(value: object, path: tuple[str | int, ...] = ()) -> Json:
    """A copy of `value` in dicts and lists; a SchemaError where it is nothing that JSON can say."""
    if len(path) > DEEPEST:
        raise SchemaError("nested too deeply", path)
    match value:
        case None | bool() | str():
            return value
        case int() if value.bit_length() <= _MOST_BITS:
            return value
        case float() if math.isfinite(value):
            return value
        case Mapping():
            return {key: plain(item, (*path, key)) for key, item in named(value, path).items()}
        case list() | tuple():
            return [plain(item, (*path, index)) for index, item in enumerate(value)]
    raise SchemaError(f"{_kind(value)} is nothing that JSON can say", path)


def named(value: Mapping[Any, object], path: tuple[str | int, ...]) -> dict[str, object]:
    """The mapping as a dict, once all its keys are known to be strings."""
    checked = {key: item for key, item in value.items() if isinstance(key, str)}
    if len(checked) != len(value):
        wrong = next(key for key in value if not isinstance(key, str))
        raise SchemaError(f"the key {wrong!r} is not a string", path, hint=f'put it in quotes: "{wrong}"')
    return checked


def _kind(value: object) -> str:
    if isinstance(value, float):
        return str(value)
    return "a huge number" if isinstance(value, int) else f"a Python {type(value).__name__}"
