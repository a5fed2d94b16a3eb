"""The calls of stored answers as Python source, read as the official harness reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from pytest_fcall.decoding.bfcl import Undecodable, decode_prompt
from pytest_fcall.suites.bfcl.answers import Answer, decode_text
from pytest_fcall.suites.bfcl.source_calls import call_source


def readable_sources(answer: Answer) -> list[str]:
    """Return the calls of one answer; none if there is no call, or one that cannot be read."""
    try:
        return read_call_sources(answer)
    except Undecodable:
        return []


def read_call_sources(answer: Answer) -> list[str]:
    """Return the calls of one answer. Raises Undecodable for anything that is not a call."""
    try:
        return _read(answer)
    except (_NotCalls, ValueError, RecursionError):
        raise Undecodable("the decoded answer is not a list of calls") from None


class _NotCalls(Exception):
    """A value is not a call, or not a list of calls."""


def _read(answer: Answer) -> list[str]:
    match answer.form:
        case "fc":
            return list(_native(answer.content))
        case "prompt":
            return list(_prompted(decode_prompt(answer.content)))
        case "text":
            return list(_decoded(decode_text(answer)))
        case "decoded":
            return list(_decoded(answer.content))
        case "undecodable":
            raise Undecodable("the row says so")


def _native(content: object) -> Iterator[str]:
    """Calls given as `{name: JSON text}` or `{name: arguments}`. Each of several names in one object is a call."""
    for call in _as_list([content] if isinstance(content, Mapping) else content):
        for name, given in _as_mapping(call).items():
            arguments = json.loads(given) if isinstance(given, str) else given
            yield call_source(name, _as_mapping(arguments))


def _prompted(decoded: object) -> Iterator[str]:
    for call in _as_list(decoded):
        for name, arguments in _as_mapping(call).items():
            yield _nested_source(name, _as_mapping(arguments))


def _decoded(content: object) -> Iterator[str]:
    """Calls that a decoder returned, as mappings or as source."""
    for call in _as_list(content):
        if isinstance(call, str):
            yield call
        else:
            yield from _prompted([call])


def _nested_source(name: object, arguments: Mapping[object, object]) -> str:
    return f"{name}({', '.join(f'{key}={_value_source(value)}' for key, value in arguments.items())})"


def _value_source(value: object) -> str:
    """A value as source. A mapping with only mappings in it is taken for a nested call."""
    if not isinstance(value, Mapping):
        return repr(value)
    if all(isinstance(each, Mapping) for each in value.values()):
        if not value:
            raise _NotCalls
        name = next(iter(value))
        return _nested_source(name, value[name])
    return "{" + ", ".join(f"'{key}': {_value_source(each)}" for key, each in value.items()) + "}"


def _as_list(value: object) -> Sequence[object]:
    if isinstance(value, list | tuple):
        return value
    raise _NotCalls


def _as_mapping(value: object) -> Mapping[object, object]:
    if isinstance(value, Mapping):
        return value
    raise _NotCalls
