"""The official form of decoded calls, `{name: {argument: value}}`, and the error of output that has none."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pytest_fcall.core.reply import Call, Calls
from pytest_fcall.core.values import Json


class Undecodable(ValueError):
    """The official decoder fails on an output. The message is a clause without a full stop."""


class _NotOfficialForm(ValueError):
    """An item is not a call. The message is a clause without a full stop."""


def calls_of(decoded: object) -> Calls:
    """Read the calls up to the first invalid one. Tuples become lists; values that are not JSON are invalid."""
    if not isinstance(decoded, list):
        return Calls(malformed="What was decoded is not a list of calls.")
    calls: list[Call] = []
    for number, item in enumerate(decoded, 1):
        try:
            calls.append(_plain_call(item))
        except _NotOfficialForm as error:
            return Calls(tuple(calls), f"Call {number}: {error}.")
        except RecursionError:
            return Calls(tuple(calls), f"Call {number}: it is nested too deeply.")
    return Calls(tuple(calls))


def _plain_call(item: object) -> Call:
    if not isinstance(item, Mapping) or len(item) != 1:
        raise _NotOfficialForm("it is not an object with one name in it")
    (name, arguments), *_ = item.items()
    if not isinstance(name, str) or not name:
        raise _NotOfficialForm("it has no name")
    if not isinstance(arguments, Mapping):
        raise _NotOfficialForm("its arguments are not an object")
    return Call(name, {_plain_key(key): _plain_json(value) for key, value in arguments.items()})


def _plain_json(value: object) -> Json:
    if isinstance(value, Mapping):
        return {_plain_key(key): _plain_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_json(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise _NotOfficialForm(f"it contains {value}, which is not a JSON number")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise _NotOfficialForm(f"it contains a value of type {type(value).__name__}")


def _plain_key(key: object) -> str:
    if not isinstance(key, str):
        raise _NotOfficialForm("one of its keys is not a string")
    return key
