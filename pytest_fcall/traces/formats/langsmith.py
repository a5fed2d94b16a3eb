"""LangSmith: exports of runs, one a line or in a list, and examples of data sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_fcall.core.values import Json, Message
from pytest_fcall.traces.formats.dataset_cases import DatasetCase, case_name, expect_value, question_of
from pytest_fcall.traces.formats.exchanges import request_messages
from pytest_fcall.traces.record import Record, SkippedEntry, UnusableRecord
from pytest_fcall.traces.request_parts import messages_of, settings_of, tools_in
from pytest_fcall.traces.values import first_field, first_text, items, mapping, parse_json_text, text


def matches(data: Mapping[str, Json]) -> bool:
    """Whether it is a run."""
    return isinstance(data.get("run_type"), str) and "inputs" in data


def read(data: Mapping[str, Json], place: str) -> Iterator[Record | SkippedEntry]:
    """A record for each run of a model. Runs of chains and tools only repeat what these hold."""
    if data["run_type"] == "llm":
        try:
            yield _record(data, place)
        except UnusableRecord as problem:
            yield SkippedEntry(place, str(problem))
    for child in items(data.get("child_runs")):
        if matches(mapping(child)):
            yield from read(mapping(child), place)


def _record(data: Mapping[str, Json], place: str) -> Record:
    inputs, extra = mapping(parse_json_text(data["inputs"])), mapping(parse_json_text(data.get("extra")))
    # LiteLLM puts the parameters beside the messages.
    parameters = {**mapping(inputs.get("model_parameters")), **mapping(extra.get("invocation_params"))}
    if data.get("error"):
        raise UnusableRecord("the request failed")
    return Record(
        messages=(*request_messages(inputs), *_answer_messages(mapping(parse_json_text(data.get("outputs"))))),
        place=place,
        tools=tools_in(inputs, parameters),
        model=first_text(parameters, "model", "model_name")
        or first_text(mapping(extra.get("metadata")), "ls_model_name"),
        time=text(data.get("start_time")) or "",
        settings=settings_of({**parameters, **inputs}),
    )


def _answer_messages(outputs: Mapping[str, Json]) -> tuple[Message, ...]:
    """The answer: the first generation of LangChain, the first choice of the provider, or a message."""
    output = first_field(outputs, "generations", "choices", "message", "output")
    output = output or next(reversed(items(outputs.get("messages"))), None)
    while isinstance(output, list) and output:
        output = output[0]
    data = mapping(output)
    message = data.get("message", data) or data.get("text")
    if not message and not isinstance(outputs.get("content"), str | list):
        raise UnusableRecord("there is no answer")
    answer = messages_of(message or outputs)
    return tuple({**each, "role": "assistant"} for each in answer[:1])


def matches_example(data: Mapping[str, Json]) -> bool:
    """Whether it is an example. A run has a `run_type`, too."""
    return "inputs" in data and "run_type" not in data and bool(data.keys() & {"outputs", "reference_outputs"})


def read_example(data: Mapping[str, Json], place: str) -> Iterator[Record | SkippedEntry]:
    """The record of the example."""
    case = DatasetCase(place, case_id=case_name(data, "name"))
    try:
        case.messages, further = question_of(parse_json_text(data["inputs"]))
        expect_value(case, first_field(data, "outputs", "reference_outputs"), "outputs")
    except UnusableRecord as problem:
        yield SkippedEntry(place, str(problem))
        return
    if further:
        case.leave_out(f"the further inputs: {', '.join(further[:5])}", data)
    if data.get("attachments"):
        case.leave_out("its attachments", data)
    yield from case.entries("LangSmith")
