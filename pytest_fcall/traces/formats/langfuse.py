"""Exports of Langfuse: traces with their observations, or observations alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.values import Json, Message
from pytest_fcall.traces.formats.exchanges import request_messages
from pytest_fcall.traces.record import Record, SkippedEntry, UnusableRecord
from pytest_fcall.traces.request_parts import answer_messages, messages_of, settings_of, tools_in, tools_of
from pytest_fcall.traces.values import first_field, first_text, items, mapping, parse_json_text, text

_NOT_A_MODEL = frozenset(
    {"SPAN", "EVENT", "TOOL", "AGENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"}
)
_STORED_FILE: Final = "@@@langfuseMedia:"
_FILLED_IN: Final[Mapping[str, Json]] = MappingProxyType(
    {"temperature": 1, "max_tokens": "Infinity", "top_p": 1, "frequency_penalty": 0, "presence_penalty": 0}
)
"""The text that the wrapper of OpenAI's library writes for settings that the request does not have."""


def matches(data: Mapping[str, Json]) -> bool:
    """Whether it is an observation, or a trace with its observations."""
    if isinstance(data.get("observations"), list) and "id" in data:
        return True
    is_observation = text(data.get("type")) == "GENERATION" or str(data.get("type")) in _NOT_A_MODEL
    return is_observation and first_field(data, "traceId", "trace_id") is not None


def read(data: Mapping[str, Json], place: str) -> Iterator[Record | SkippedEntry]:
    """A record for each generation. Other observations only repeat what generations hold."""
    if isinstance(data.get("observations"), list):
        for each in items(data["observations"]):
            yield from read(mapping(each), place)
    elif data.get("type") == "GENERATION":
        try:
            yield generation_record(data, place)
        except UnusableRecord as problem:
            yield SkippedEntry(place, str(problem))


def generation_record(data: Mapping[str, Json], place: str) -> Record:
    """The record of a generation, in the form of the API. Raises UnusableRecord."""
    if data.get("level") == "ERROR" and data.get("output") in (None, ""):
        raise UnusableRecord("the request failed")
    if _STORED_FILE in str(data.get("input")):
        raise UnusableRecord("an image or a file of it is in Langfuse's own store, and not in the export")
    request = parse_json_text(data.get("input"))
    parameters = _given_parameters(mapping(parse_json_text(first_field(data, "modelParameters", "model_parameters"))))
    return Record(
        messages=(
            *_request_messages(request),
            *_answer_messages(parse_json_text(data.get("output")), _calls_beside(data)),
        ),
        place=place,
        tools=tools_in(mapping(request), parameters) or tools_of(_tool_definitions(data)),
        model=first_text(data, "model", "provided_model_name", "providedModelName"),
        time=first_text(data, "startTime", "start_time"),
        settings=settings_of(parameters),
    )


def _given_parameters(parameters: Mapping[str, Json]) -> Mapping[str, Json]:
    """The parameters without those that the wrapper has filled in."""
    if not _FILLED_IN.keys() <= parameters.keys():
        return parameters
    return {name: value for name, value in parameters.items() if value != _FILLED_IN.get(name)}


def _request_messages(request: Json) -> tuple[Message, ...]:
    if isinstance(request, Mapping) and ("messages" in request or "input" in request):
        return request_messages(request)
    return messages_of(request)


def _calls_beside(data: Mapping[str, Json]) -> list[Json]:
    """The calls in a column of their own; their names may be in another column."""
    calls = [
        mapping(parse_json_text(each)) for each in items(parse_json_text(first_field(data, "tool_calls", "toolCalls")))
    ]
    names = items(parse_json_text(first_field(data, "tool_call_names", "toolCallNames")))
    return [{"name": name, **call} if name else call for call, name in zip_longest(calls, names[: len(calls)])]


def _tool_definitions(data: Mapping[str, Json]) -> list[Json]:
    """The tools in a column of their own, by their names. Each is JSON, and so are its parameters."""
    definitions = mapping(parse_json_text(first_field(data, "tool_definitions", "toolDefinitions")))
    return [
        {
            "name": name,
            **{
                key: parse_json_text(value) if key == "parameters" else value
                for key, value in mapping(parse_json_text(definition)).items()
                if value != ""
            },
        }
        for name, definition in definitions.items()
    ]


def _answer_messages(output: Json, calls: list[Json]) -> tuple[Message, ...]:
    """The answer, which libraries log as a message, a list with one message, a string, or the body of the provider."""
    if output in (None, "") and not calls:
        raise UnusableRecord("there is no answer")
    if output is None or isinstance(output, str):
        return messages_of({"role": "assistant", "content": output, "tool_calls": calls})
    choice = mapping(next(iter(items(mapping(output).get("choices"))), None))
    if choice:
        output = choice.get("message")
    if mapping(output).get("object") == "response":
        output = mapping(output).get("output")
    *before, last = answer_messages(output) or ({},)
    if calls and not last.get("tool_calls"):
        last = messages_of({"role": "assistant", "content": last.get("content"), "tool_calls": calls})[0]
    return (*before, last) if last else ()
