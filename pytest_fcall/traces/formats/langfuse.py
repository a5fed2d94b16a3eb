"""Exports of Langfuse: traces with their observations, or observations alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest

from pytest_fcall.core import Json, Message
from pytest_fcall.traces.formats.exchanges import request_messages
from pytest_fcall.traces.record import Record, UnusableRecord
from pytest_fcall.traces.request_parts import messages_of, settings_of, tools_of
from pytest_fcall.traces.values import first, items, mapping, parsed, text

_NOT_A_MODEL = frozenset(
    {"SPAN", "EVENT", "TOOL", "AGENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"}
)


def recognises(told: Mapping[str, Json]) -> bool:
    """Whether it is an observation, or a trace that brings its observations."""
    if isinstance(told.get("observations"), list) and "id" in told:
        return True
    is_one = text(told.get("type")) == "GENERATION" or str(told.get("type")) in _NOT_A_MODEL
    return is_one and first(told, "traceId", "trace_id") is not None


def read(told: Mapping[str, Json], place: str) -> Iterator[Record]:
    """Each generation is a record; what is no generation holds what these hold already."""
    if isinstance(told.get("observations"), list):
        for each in items(told["observations"]):
            yield from read(mapping(each), place)
    elif told.get("type") == "GENERATION":
        yield _record(told, place)


def _record(told: Mapping[str, Json], place: str) -> Record:
    given, parameters = parsed(told.get("input")), mapping(parsed(first(told, "modelParameters", "model_parameters")))
    request = mapping(given)
    return Record(
        trail=(*_request_messages(given), *_answer_messages(parsed(told.get("output")), _calls_beside(told))),
        place=place,
        tools=tools_of(first(request, "tools", "functions") or first(parameters, "tools", "functions"))
        or tools_of(_definitions(told)),
        model=text(first(told, "model", "provided_model_name", "providedModelName")) or "",
        moment=text(first(told, "startTime", "start_time")) or "",
        settings=settings_of(parameters),
    )


def _request_messages(given: Json) -> tuple[Message, ...]:
    if isinstance(given, Mapping) and ("messages" in given or "input" in given):
        return request_messages(given)
    return messages_of(given)


def _calls_beside(told: Mapping[str, Json]) -> list[Json]:
    """The calls that an observation has in a column of their own, and their names in another one."""
    calls = [mapping(parsed(each)) for each in items(parsed(first(told, "tool_calls", "toolCalls")))]
    names = items(parsed(first(told, "tool_call_names", "toolCallNames")))
    return [{"name": name, **call} if name else call for call, name in zip_longest(calls, names[: len(calls)])]


def _definitions(told: Mapping[str, Json]) -> list[Json]:
    """The tools that it has in another one, by their names; each is JSON, and so are its parameters."""
    found = mapping(parsed(first(told, "tool_definitions", "toolDefinitions")))
    return [{"name": name, **_definition(mapping(parsed(each)))} for name, each in found.items()]


def _definition(told: Mapping[str, Json]) -> dict[str, Json]:
    return {key: parsed(value) if key == "parameters" else value for key, value in told.items() if value != ""}


def _answer_messages(given: Json, calls: list[Json]) -> tuple[Message, ...]:
    """The answer, which libraries write as a message, a list of one, a text, or the provider's body."""
    if given in (None, "") and not calls:
        raise UnusableRecord("it has no answer")
    if given is None or isinstance(given, str):
        return messages_of({"role": "assistant", "content": given, "tool_calls": calls})
    choice = mapping(next(iter(items(mapping(given).get("choices"))), None))
    if choice:
        given = choice.get("message")
    *before, last = messages_of([{"role": "assistant", **mapping(item)} for item in items(given)]) or ({},)
    if calls and not last.get("tool_calls"):
        last = messages_of({"role": "assistant", "content": last.get("content"), "tool_calls": calls})[0]
    return (*before, last) if last else ()
