"""Decoded calls in the official form, `{name: {argument: value}}`, as Calls."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pytest_fcall.core.call import Call
from pytest_fcall.core.values import Json


class NotNormal(ValueError):
    """The text says why something is no call."""


def call_of(item: object) -> Call:
    """Read one call. Tuples become lists; what no JSON could say makes it no call."""
    if not isinstance(item, Mapping) or len(item) != 1:
        raise NotNormal("it is not an object with one name in it")
    (name, arguments), *_ = item.items()
    if not isinstance(name, str) or not name:
        raise NotNormal("it has no name")
    if not isinstance(arguments, Mapping):
        raise NotNormal("its arguments are not an object")
    return Call(name, {_key(key): _json(value) for key, value in arguments.items()})


def _json(value: object) -> Json:
    if isinstance(value, Mapping):
        return {_key(key): _json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise NotNormal(f"it holds {value}, which is no JSON number")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise NotNormal(f"it holds a value of type {type(value).__name__}")


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise NotNormal("one of its names is not text")
    return key
