"""The calls in a stored answer as Python source, as the official harness reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from pytest_fcall.decoding.bfcl import Undecodable, decode_prompt
from pytest_fcall.suites.bfcl.answers import Answer
from pytest_fcall.suites.bfcl.source_calls import call_source


def readable_sources(answer: Answer) -> list[str]:
    """Read one reply. Where there is no call in it, or one that cannot be read, there is none."""
    try:
        return read_call_sources(answer)
    except Undecodable:
        return []


def read_call_sources(answer: Answer) -> list[str]:
    """Read one reply. Undecodable where there is something in it that is no call."""
    try:
        return _read(answer)
    except (_NoCalls, ValueError, RecursionError):
        raise Undecodable("what was decoded is no list of calls") from None


class _NoCalls(Exception):
    """Something is no call, or no list of calls."""


def _read(answer: Answer) -> list[str]:
    match answer.form:
        case "fc":
            return list(_native(answer.said))
        case "prompt":
            return list(_prompted(decode_prompt(answer.said)))
        case "decoded":
            return list(_decoded(answer.said))
        case "undecodable":
            raise Undecodable("the row says so")


def _native(said: object) -> Iterator[str]:
    """Calls as `{name: JSON text, or the arguments themselves}`; of several names in one, each is a call."""
    for call in _as_list([said] if isinstance(said, Mapping) else said):
        for name, given in _as_mapping(call).items():
            arguments = json.loads(given) if isinstance(given, str) else given
            yield call_source(name, _as_mapping(arguments))


def _prompted(decoded: object) -> Iterator[str]:
    for call in _as_list(decoded):
        for name, arguments in _as_mapping(call).items():
            yield _nested_source(name, _as_mapping(arguments))


def _decoded(said: object) -> Iterator[str]:
    """Calls that somebody else decoded, as mappings, or already as source."""
    for call in _as_list(said):
        if isinstance(call, str):
            yield call
        else:
            yield from _prompted([call])


def _nested_source(name: object, arguments: Mapping[object, object]) -> str:
    return f"{name}({', '.join(f'{key}={_written(value)}' for key, value in arguments.items())})"


def _written(value: object) -> str:
    """A value; what may stand for a call within a call, a mapping of nothing but mappings, is taken for one."""
    if not isinstance(value, Mapping):
        return repr(value)
    if all(isinstance(each, Mapping) for each in value.values()):
        name = next(iter(value), _NOTHING)
        if name is _NOTHING:
            raise _NoCalls
        return _nested_source(name, value[name])
    return "{" + ", ".join(f"'{key}': {_written(each)}" for key, each in value.items()) + "}"


_NOTHING = object()


def _as_list(value: object) -> Sequence[object]:
    if isinstance(value, list | tuple):
        return value
    raise _NoCalls


def _as_mapping(value: object) -> Mapping[object, object]:
    if isinstance(value, Mapping):
        return value
    raise _NoCalls
