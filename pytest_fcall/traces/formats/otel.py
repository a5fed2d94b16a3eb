"""OpenTelemetry: spans of model requests, with current and older attribute names, and those of tracing libraries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pytest_fcall.core import Json, Message, Tool
from pytest_fcall.traces.record import Record, UnusableRecord
from pytest_fcall.traces.request_parts import messages_of, settings_of, system_message, tools_of
from pytest_fcall.traces.values import first, first_text, items, mapping, parsed, text

_BATCHES: Final = ("resourceSpans", "resource_spans", "resourceLogs", "resource_logs")
_DETAILS: Final = "gen_ai.client.inference.operation.details"
_NO_REQUESTS: Final = ("invoke_agent", "create_agent", "invoke_workflow", "execute_tool")
"""Spans around requests. They hold the first input and the last output, and none of the calls between."""
_MOST_ITEMS: Final = 10_000
"""The longest list that is put together from attributes: a larger number in a name is no index."""


def matches(data: Mapping[str, Json]) -> bool:
    """Whether it is a batch of spans or log records, or one span."""
    is_span = "attributes" in data and any(name in data for name in ("name", "spanId", "span_id", "context"))
    return is_span or any(name in data for name in _BATCHES)


def read(data: Mapping[str, Json], place: str) -> Iterator[Record]:
    """A record for each span of a model request."""
    for span in spans_of(data):
        if (record := _record(span, place)) is not None:
            yield record


def spans_of(data: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
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


def events_of(span: Mapping[str, Json]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """The events of a span: their names, and their attributes with the fields of their bodies."""
    for each in items(span.get("events")):
        event = mapping(each)
        attributes = flat_attributes(event.get("attributes"))
        name = first_text(event, "eventName") or first_text(event, "name") or first_text(attributes, "event.name")
        body = _typed_value(event["body"]) if isinstance(event.get("body"), Mapping) else None
        yield name, {**attributes, **mapping(body)}


def flat_attributes(attributes: Json) -> Mapping[str, Json]:
    """Attributes by name, from a mapping or from OTLP's list of typed values."""
    if isinstance(attributes, Mapping):
        return attributes
    pairs = (mapping(each) for each in items(attributes))
    return {name: _typed_value(pair.get("value")) for pair in pairs if (name := text(pair.get("key")))}


def nested_attributes(attributes: Mapping[str, Json], prefix: str) -> Json:
    """The value that was flattened into attributes such as `PREFIX.0.role`. None without such attributes."""
    tree: dict[str, Json] = {}
    for name, value in attributes.items():
        if name.startswith(f"{prefix}."):
            _insert(tree, name[len(prefix) + 1 :].split("."), value)
    return _with_lists(tree) if tree else None


def _insert(tree: dict[str, Json], steps: list[str], value: Json) -> None:
    for step in steps[:-1]:
        inner = tree.setdefault(step, {})
        if not isinstance(inner, dict):
            return
        tree = inner
    tree.setdefault(steps[-1], value)


def _with_lists(value: Json) -> Json:
    """The value with lists in place of mappings whose keys are numbers."""
    if not isinstance(value, Mapping):
        return value
    if value and all(key.isascii() and key.isdecimal() and len(key) < 6 for key in value):
        return [_with_lists(value[key]) for key in sorted(value, key=int)[:_MOST_ITEMS]]
    return {key: _with_lists(inner) for key, inner in value.items()}


def _typed_value(data: Json) -> Json:
    """The value of one of OTLP's typed values."""
    if not isinstance(data, Mapping):
        return data
    for name, value in data.items():
        match name:
            case "intValue" | "int_value":
                is_number = isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < 25
                return int(str(value)) if is_number else value
            case "arrayValue" | "array_value":
                return [_typed_value(each) for each in items(mapping(value).get("values"))]
            case "kvlistValue" | "kvlist_value":
                return dict(flat_attributes(mapping(value).get("values")))
            case "stringValue" | "string_value" | "boolValue" | "bool_value" | "doubleValue" | "double_value":
                return value
    return dict(data)


def _record(span: Mapping[str, Json], place: str) -> Record | None:
    attributes = flat_attributes(span.get("attributes"))
    if attributes.get("gen_ai.operation.name") in _NO_REQUESTS:
        return None
    request: tuple[Message, ...] = ()
    answer: tuple[Message, ...] = ()
    for name, event in events_of(span):
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
        return None
    names = ("temperature", "top_p", "max_tokens", "seed")
    return Record(
        messages=(*request, *(answer or _answer_messages(attributes))),
        place=place,
        tools=_tools(attributes),
        model=first_text(attributes, "gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.model.id"),
        time=str(first(span, "startTimeUnixNano", "start_time_unix_nano", "start_time") or ""),
        settings=settings_of({name: attributes.get(f"gen_ai.request.{name}") for name in names}),
    )


def _request_messages(attributes: Mapping[str, Json]) -> tuple[Message, ...]:
    messages = (
        first(attributes, "gen_ai.input.messages", "gen_ai.prompt", "ai.prompt.messages")
        or nested_attributes(attributes, "gen_ai.prompt")
        or nested_attributes(attributes, "llm.input_messages")
    )
    if messages is None:
        return ()
    system = parsed(first(attributes, "gen_ai.system_instructions", "gen_ai.system.instructions"))
    return (*system_message(system), *messages_of(messages))


def _answer_messages(attributes: Mapping[str, Json]) -> tuple[Message, ...]:
    answer = parsed(
        first(attributes, "gen_ai.output.messages", "gen_ai.completion")
        or nested_attributes(attributes, "gen_ai.completion")
        or nested_attributes(attributes, "llm.output_messages")
        or _vercel_answer(attributes)
    )
    if answer is None:
        raise UnusableRecord("there is no answer")
    if isinstance(answer, str):
        return ({"role": "assistant", "content": answer},)
    return messages_of([{"role": "assistant", **mapping(each)} for each in items(answer)][:1])


def _vercel_answer(attributes: Mapping[str, Json]) -> Json:
    """The answer in the attributes of Vercel's AI SDK."""
    content, calls = attributes.get("ai.response.text"), parsed(attributes.get("ai.response.toolCalls"))
    return [{"content": content, "tool_calls": calls}] if content or calls else None


def _choice_messages(event: Mapping[str, Json]) -> tuple[Message, ...]:
    """The first choice. The app did not continue with the others."""
    if event.get("index") not in (None, 0, "0"):
        return ()
    body = _event_fields(event)
    return messages_of({**body, **mapping(parsed(body.get("message"))), "role": "assistant"})


def _event_fields(event: Mapping[str, Json]) -> dict[str, Json]:
    """The fields of an event. All of them may be JSON in one attribute, and calls may be JSON."""
    fields = {**event, **mapping(parsed(event.get("gen_ai.event.content")))}
    if "id" in fields and "tool_call_id" not in fields:
        fields["tool_call_id"] = fields["id"]
    return {key: parsed(value) if key == "tool_calls" else value for key, value in fields.items()}


def _tools(attributes: Mapping[str, Json]) -> tuple[Tool, ...]:
    tools = first(attributes, "gen_ai.tool.definitions", "gen_ai.request.tools", "ai.prompt.tools")
    if tools is None:
        functions = nested_attributes(attributes, "llm.request.functions")
        tools = [_parsed_function(mapping(each)) for each in items(functions)]
    if not tools:
        tools = [
            mapping(mapping(each).get("tool")) or each for each in items(nested_attributes(attributes, "llm.tools"))
        ]
    return tools_of(tools)


def _parsed_function(function: Mapping[str, Json]) -> Json:
    return {key: parsed(value) if key != "description" else value for key, value in function.items()}
