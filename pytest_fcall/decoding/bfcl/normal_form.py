"""Decoded calls in the official form, `{name: {argument: value}}`, as Calls."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pytest_fcall.core.call import Call, Calls
from pytest_fcall.core.values import Json


def calls_of(decoded: object) -> Calls:
    """Read the calls, up to the first that is none. Tuples become lists; what no JSON could say makes it no call."""
    if not isinstance(decoded, list):
        return Calls(malformed="What was decoded is not a list of calls.")
    calls: list[Call] = []
    for number, item in enumerate(decoded, 1):
        try:
            calls.append(_call(item))
        except _NotNormal as error:
            return Calls(tuple(calls), f"Call {number}: {error}.")
        except RecursionError:
            return Calls(tuple(calls), f"Call {number}: it is nested too deeply.")
    return Calls(tuple(calls))


class _NotNormal(ValueError):
    """The text says why something is no call."""


def _call(item: object) -> Call:
    if not isinstance(item, Mapping) or len(item) != 1:
        raise _NotNormal("it is not an object with one name in it")
    (name, arguments), *_ = item.items()
    if not isinstance(name, str) or not name:
        raise _NotNormal("it has no name")
    if not isinstance(arguments, Mapping):
        raise _NotNormal("its arguments are not an object")
    return Call(name, {_key(key): _json(value) for key, value in arguments.items()})


def _json(value: object) -> Json:
    if isinstance(value, Mapping):
        return {_key(key): _json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise _NotNormal(f"it holds {value}, which is no JSON number")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise _NotNormal(f"it holds a value of type {type(value).__name__}")


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise _NotNormal("one of its names is not text")
    return key
