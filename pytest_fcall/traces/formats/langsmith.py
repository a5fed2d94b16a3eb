"""Exports of LangSmith: runs, one a line or in a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_fcall.core import Json, Message
from pytest_fcall.traces.formats.exchanges import request_messages
from pytest_fcall.traces.record import Record, UnusableRecord
from pytest_fcall.traces.request_parts import messages_of, settings_of, tools_of
from pytest_fcall.traces.values import first, items, mapping, parsed, text


def recognises(told: Mapping[str, Json]) -> bool:
    """Whether it is a run."""
    return isinstance(told.get("run_type"), str) and "inputs" in told


def read(told: Mapping[str, Json], place: str) -> Iterator[Record]:
    """Each run of a model is a record; runs of chains and tools hold what these hold already."""
    if told["run_type"] == "llm":
        yield _record(told, place)
    for child in items(told.get("child_runs")):
        if recognises(mapping(child)):
            yield from read(mapping(child), place)


def _record(told: Mapping[str, Json], place: str) -> Record:
    inputs, extra = mapping(parsed(told["inputs"])), mapping(parsed(told.get("extra")))
    # LiteLLM puts them beside the messages.
    sent = {**mapping(inputs.get("model_parameters")), **mapping(extra.get("invocation_params"))}
    if told.get("error"):
        raise UnusableRecord("the request failed")
    return Record(
        trail=(*request_messages(inputs), *_answer_messages(mapping(parsed(told.get("outputs"))))),
        place=place,
        tools=tools_of(first(inputs, "tools", "functions") or first(sent, "tools", "functions")),
        model=text(first(sent, "model", "model_name"))
        or text(mapping(extra.get("metadata")).get("ls_model_name"))
        or "",
        moment=text(told.get("start_time")) or "",
        settings=settings_of({**sent, **inputs}),
    )


def _answer_messages(outputs: Mapping[str, Json]) -> tuple[Message, ...]:
    """The answer: of LangChain the first generation, else the provider's own first choice, or a message."""
    found = first(outputs, "generations", "choices", "message", "output")
    found = found or next(reversed(items(outputs.get("messages"))), None)
    while isinstance(found, list) and found:
        found = found[0]
    told = mapping(found)
    message = told.get("message", told) or told.get("text")
    if not message and not isinstance(outputs.get("content"), str | list):
        raise UnusableRecord("it has no answer")
    answer = messages_of(message or outputs)
    return tuple({**each, "role": "assistant"} for each in answer[:1])
