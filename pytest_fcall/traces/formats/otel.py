"""OpenTelemetry: spans of model requests, with current and older attribute names, and those of tracing libraries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.traces.formats import langfuse, openinference
from pytest_fcall.traces.formats.spans import flat_attributes, nested_attributes, tool_run, trace_id, typed_value
from pytest_fcall.traces.record import Record, SkippedEntry, ToolRun, TraceEntry, UnusableRecord
from pytest_fcall.traces.request_parts import answer_messages, messages_of, settings_of, system_message, tools_of
from pytest_fcall.traces.values import first_field, first_text, items, mapping, parse_json_text, text

_LANGFUSE: Final = "langfuse.observation"
_REQUESTS: Final = ("chat", "completion", "text_completion", "generate_content")
_BATCHES: Final = ("resourceSpans", "resource_spans", "resourceLogs", "resource_logs")
_DETAILS: Final = "gen_ai.client.inference.operation.details"
_NO_REQUESTS: Final = ("invoke_agent", "create_agent", "invoke_workflow", "execute_tool")
"""Spans around requests. They hold the first input and the last output, and none of the calls between."""


def matches(data: Mapping[str, Json]) -> bool:
    """Whether it is a batch of spans or log records, or one span."""
    is_span = "attributes" in data and any(name in data for name in ("name", "spanId", "span_id", "context"))
    return is_span or any(name in data for name in _BATCHES)


def read(data: Mapping[str, Json], place: str) -> Iterator[TraceEntry]:
    """A record for each span of a model request, or why there is none; the runs of tools that spans tell."""
    spans = list(_spans_of(data))
    for number, span in enumerate(spans, 1):
        where = place if len(spans) == 1 else f"{place}, span {number}"
        try:
            record = _record(span, where)
        except UnusableRecord as problem:
            yield SkippedEntry(where, str(problem))
            continue
        if isinstance(record, Record):
            record = replace(record, trace=trace_id(span))
        if record is not None:
            yield record


def _spans_of(data: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    """The spans of a batch, or the span itself. Log records are returned as events of the span that they belong to."""
    for resource in items(data.get("resourceSpans") or data.get("resource_spans")):
        for scope in _scopes(mapping(resource), "Spans"):
            yield from (mapping(span) for span in items(scope.get("spans")))
    logs: dict[str, list[Json]] = {}
    for resource in items(data.get("resourceLogs") or data.get("resource_logs")):
        for scope in _scopes(mapping(resource), "Logs"):
            for number, record in enumerate(items(scope.get("logRecords") or scope.get("log_records"))):
                span = mapping(record).get("spanId") or mapping(record).get("span_id")
                logs.setdefault(text(span) or f"#{len(logs)}.{number}", []).append(record)
    yield from ({"events": records} for records in logs.values())
    if "attributes" in data:
        yield data


def _scopes(resource: Mapping[str, Json], kind: str) -> Iterator[Mapping[str, Json]]:
    for name in (f"scope{kind}", f"scope_{kind.lower()}", f"instrumentationLibrary{kind}"):
        yield from (mapping(scope) for scope in items(resource.get(name)))


def _events_of(span: Mapping[str, Json]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """The events of a span: their names, and their attributes with the fields of their bodies."""
    for each in items(span.get("events")):
        event = mapping(each)
        attributes = flat_attributes(event.get("attributes"))
        name = first_text(event, "eventName") or first_text(event, "name") or first_text(attributes, "event.name")
        body = typed_value(event["body"]) if isinstance(event.get("body"), Mapping) else None
        yield name, {**attributes, **mapping(body)}


def _record(span: Mapping[str, Json], place: str) -> Record | ToolRun | None:
    attributes = flat_attributes(span.get("attributes"))
    time = str(first_field(span, "startTimeUnixNano", "start_time_unix_nano", "start_time") or "")
    if (run := tool_run(span, attributes, time)) is not None:
        return run
    kind = text(attributes.get(f"{_LANGFUSE}.type"))
    if kind == "generation":
        return langfuse.generation_record(_generation(attributes, time), place)
    if kind is not None or attributes.get("gen_ai.operation.name") in _NO_REQUESTS:
        return None
    if openinference.is_request(attributes):
        return openinference.record(attributes, place, time)
    return _gen_ai_record(span, attributes, place, time)


def _gen_ai_record(span: Mapping[str, Json], attributes: Mapping[str, Json], place: str, time: str) -> Record | None:
    """The record of a span with OpenTelemetry's own attributes or events, or with names that are derived from them."""
    request: tuple[Message, ...] = ()
    answer: tuple[Message, ...] = ()
    for name, event in _events_of(span):
        if name == _DETAILS:
            attributes = {**event, **attributes}
        elif name == "gen_ai.choice":
            answer += _choice_messages(event)
        elif name.startswith("gen_ai.") and name.endswith(".message"):
            request += messages_of({"role": name.split(".")[1], **_event_fields(event)})
        elif name in ("gen_ai.content.prompt", "gen_ai.content.completion"):
            attributes = {**attributes, **event}
    request = request or _request_messages(attributes)
    if not request:
        if first_field(attributes, "gen_ai.operation.name", "llm.request.type") in _REQUESTS:
            raise UnusableRecord("the span of a request holds no messages")
        return None
    names = ("temperature", "top_p", "max_tokens", "seed")
    return Record(
        messages=(*request, *(answer or _answer_messages(attributes))),
        place=place,
        tools=_tools(attributes),
        model=first_text(attributes, "gen_ai.response.model", "gen_ai.request.model", "ai.model.id"),
        time=time,
        settings=settings_of({name: attributes.get(f"gen_ai.request.{name}") for name in names}),
    )


def _generation(attributes: Mapping[str, Json], time: str) -> dict[str, Json]:
    """The generation that Langfuse's library wrote, in the form of the API."""
    names = ("input", "output", "level", "model.name", "model.parameters")
    data = {name: attributes.get(f"{_LANGFUSE}.{name}") for name in names}
    return {**data, "model": data["model.name"], "modelParameters": data["model.parameters"], "startTime": time}


def _request_messages(attributes: Mapping[str, Json]) -> tuple[Message, ...]:
    messages = first_field(
        attributes, "gen_ai.input.messages", "gen_ai.prompt", "ai.prompt.messages"
    ) or nested_attributes(attributes, "gen_ai.prompt")
    if messages is None:
        return ()
    system = parse_json_text(first_field(attributes, "gen_ai.system_instructions", "gen_ai.system.instructions"))
    return (*system_message(system), *messages_of(messages))


def _answer_messages(attributes: Mapping[str, Json]) -> tuple[Message, ...]:
    answer = parse_json_text(
        first_field(attributes, "gen_ai.output.messages", "gen_ai.completion")
        or nested_attributes(attributes, "gen_ai.completion")
        or _vercel_answer(attributes)
    )
    if answer is None:
        raise UnusableRecord("there is no answer")
    if isinstance(answer, str):
        return ({"role": "assistant", "content": answer},)
    return answer_messages([*items(answer)][:1])


def _vercel_answer(attributes: Mapping[str, Json]) -> Json:
    """The answer in the attributes of Vercel's AI SDK."""
    content, calls = attributes.get("ai.response.text"), parse_json_text(attributes.get("ai.response.toolCalls"))
    return [{"content": content, "tool_calls": calls}] if content or calls else None


def _choice_messages(event: Mapping[str, Json]) -> tuple[Message, ...]:
    """The first choice. The app did not continue with the others."""
    if event.get("index") not in (None, 0, "0"):
        return ()
    body = _event_fields(event)
    return messages_of({**body, **mapping(parse_json_text(body.get("message"))), "role": "assistant"})


def _event_fields(event: Mapping[str, Json]) -> dict[str, Json]:
    """The fields of an event. All of them may be JSON in one attribute, and calls may be JSON."""
    fields = {**event, **mapping(parse_json_text(event.get("gen_ai.event.content")))}
    if "id" in fields and "tool_call_id" not in fields:
        fields["tool_call_id"] = fields["id"]
    return {key: parse_json_text(value) if key == "tool_calls" else value for key, value in fields.items()}


def _tools(attributes: Mapping[str, Json]) -> tuple[Tool, ...]:
    tools = first_field(attributes, "gen_ai.tool.definitions", "gen_ai.request.tools", "ai.prompt.tools")
    if tools is None:
        functions = nested_attributes(attributes, "llm.request.functions")
        tools = [_parsed_function(mapping(each)) for each in items(functions)]
    return tools_of(tools)


def _parsed_function(function: Mapping[str, Json]) -> Json:
    return {key: parse_json_text(value) if key != "description" else value for key, value in function.items()}
