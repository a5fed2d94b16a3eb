"""OpenTelemetry: spans of requests to models, by the names of today, of earlier, and of tracing libraries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pytest_fcall.core import Json, Message
from pytest_fcall.traces.record import Record, UnusableRecord
from pytest_fcall.traces.request_parts import messages_of, settings_of, tools_of
from pytest_fcall.traces.values import first, items, mapping, parsed, text

_MOST_MESSAGES: Final = 10_000
"""No request has more messages; a number beyond it in a name is no index."""


def spans_of(told: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    """The spans of a batch, or the span itself. Log records stand for the span that they belong to."""
    for resource in items(told.get("resourceSpans") or told.get("resource_spans")):
        for scope in _scopes(mapping(resource), "Spans"):
            yield from (mapping(span) for span in items(scope.get("spans")))
    logs: dict[str, list[Json]] = {}
    for resource in items(told.get("resourceLogs") or told.get("resource_logs")):
        for scope in _scopes(mapping(resource), "Logs"):
            for number, record in enumerate(items(scope.get("logRecords") or scope.get("log_records"))):
                span = mapping(record).get("spanId") or mapping(record).get("span_id")
                logs.setdefault(text(span) or f"#{len(logs)}.{number}", []).append(record)
    yield from ({"events": records} for records in logs.values())
    if "attributes" in told:
        yield told


def _scopes(resource: Mapping[str, Json], what: str) -> Iterator[Mapping[str, Json]]:
    for name in (f"scope{what}", f"scope_{what.lower()}", f"instrumentationLibrary{what}"):
        yield from (mapping(scope) for scope in items(resource.get(name)))


def events_of(span: Mapping[str, Json]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """The events of a span by name, each with its attributes and whatever its body says."""
    for each in items(span.get("events")):
        event = mapping(each)
        told = flat_attributes(event.get("attributes"))
        name = text(event.get("eventName")) or text(event.get("name")) or text(told.get("event.name")) or ""
        body = _typed_value(event["body"]) if isinstance(event.get("body"), Mapping) else None
        yield name, {**told, **mapping(body)}


def flat_attributes(attributes: Json) -> Mapping[str, Json]:
    """Attributes by name, whether they come as a mapping or as OTLP's list of typed values."""
    if isinstance(attributes, Mapping):
        return attributes
    found = (mapping(each) for each in items(attributes))
    return {name: _typed_value(each.get("value")) for each in found if (name := text(each.get("key")))}


def nested_attributes(told: Mapping[str, Json], prefix: str) -> Json:
    """What was taken apart into attributes such as `PREFIX.0.role`, put together again; None where there is none."""
    tree: dict[str, Json] = {}
    for name, value in told.items():
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
    """Mappings whose keys are numbers are lists."""
    if not isinstance(value, Mapping):
        return value
    if value and all(key.isascii() and key.isdecimal() and len(key) < 6 for key in value):
        return [_with_lists(value[key]) for key in sorted(value, key=int)[:_MOST_MESSAGES]]
    return {key: _with_lists(inner) for key, inner in value.items()}


def _typed_value(told: Json) -> Json:
    """One of OTLP's typed values."""
    if not isinstance(told, Mapping):
        return told
    for name, value in told.items():
        match name:
            case "intValue" | "int_value":
                return (
                    int(value)
                    if isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < 25
                    else value
                )
            case "arrayValue" | "array_value":
                return [_typed_value(each) for each in items(mapping(value).get("values"))]
            case "kvlistValue" | "kvlist_value":
                return dict(flat_attributes(mapping(value).get("values")))
            case "stringValue" | "string_value" | "boolValue" | "bool_value" | "doubleValue" | "double_value":
                return value
    return dict(told)


_DETAILS = "gen_ai.client.inference.operation.details"
_NO_REQUESTS = ("invoke_agent", "create_agent", "invoke_workflow", "execute_tool")
"""Spans around requests, which tell what went in first and came out last, and nothing of the calls between."""


def recognises(told: Mapping[str, Json]) -> bool:
    """Whether it is a batch of spans or log records, or one span."""
    return any(name in told for name in ("resourceSpans", "resource_spans", "resourceLogs", "resource_logs")) or (
        "attributes" in told and any(name in told for name in ("name", "spanId", "span_id", "context"))
    )


def read(told: Mapping[str, Json], place: str) -> Iterator[Record]:
    """Each span in which a model was asked is a record."""
    for span in spans_of(told):
        if (record := _record(span, place)) is not None:
            yield record


def _record(span: Mapping[str, Json], place: str) -> Record | None:
    told = flat_attributes(span.get("attributes"))
    if told.get("gen_ai.operation.name") in _NO_REQUESTS:
        return None
    asked: tuple[Message, ...] = ()
    answer: tuple[Message, ...] = ()
    for name, event in events_of(span):
        if name == _DETAILS:
            told = {**event, **told}
        elif name == "gen_ai.choice":
            answer += _choice_messages(event)
        elif name.startswith("gen_ai.") and name.endswith(".message"):
            asked += messages_of({"role": name.split(".")[1], **_event_fields(event)})
        elif name in ("gen_ai.content.prompt", "gen_ai.content.completion"):
            told = {**told, **event}
    asked = asked or _request_messages(told)
    if not asked:
        return None
    return Record(
        trail=(*asked, *(answer or _answer_messages(told))),
        place=place,
        tools=_tools(told),
        model=text(first(told, "gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.model.id")) or "",
        moment=str(first(span, "startTimeUnixNano", "start_time_unix_nano", "start_time") or ""),
        settings=settings_of(
            {name: told.get(f"gen_ai.request.{name}") for name in ("temperature", "top_p", "max_tokens", "seed")}
        ),
    )


def _request_messages(told: Mapping[str, Json]) -> tuple[Message, ...]:
    said = first(told, "gen_ai.input.messages", "gen_ai.prompt", "ai.prompt.messages") or nested_attributes(
        told, "gen_ai.prompt"
    )
    said = said or nested_attributes(told, "llm.input_messages")
    if said is None:
        return ()
    system = parsed(first(told, "gen_ai.system_instructions", "gen_ai.system.instructions"))
    before = messages_of({"role": "system", "content": system}) if system else ()
    return (*before, *messages_of(said))


def _answer_messages(told: Mapping[str, Json]) -> tuple[Message, ...]:
    said = first(told, "gen_ai.output.messages", "gen_ai.completion") or nested_attributes(told, "gen_ai.completion")
    said = parsed(said or nested_attributes(told, "llm.output_messages") or _vercel_answer(told))
    if said is None:
        raise UnusableRecord("it has no answer")
    if isinstance(said, str):
        return ({"role": "assistant", "content": said},)
    return messages_of([{"role": "assistant", **mapping(each)} for each in items(said)][:1])


def _vercel_answer(told: Mapping[str, Json]) -> Json:
    """The answer in the words of Vercel's AI SDK."""
    words, calls = told.get("ai.response.text"), parsed(told.get("ai.response.toolCalls"))
    return [{"content": words, "tool_calls": calls}] if words or calls else None


def _choice_messages(event: Mapping[str, Json]) -> tuple[Message, ...]:
    """The first choice alone; the others were never gone on with."""
    if event.get("index") not in (None, 0, "0"):
        return ()
    body = _event_fields(event)
    return messages_of({**body, **mapping(parsed(body.get("message"))), "role": "assistant"})


def _event_fields(event: Mapping[str, Json]) -> dict[str, Any]:
    """The fields of an event, of which texts may be JSON, and all of them may stand in one."""
    told = {**event, **mapping(parsed(event.get("gen_ai.event.content")))}
    if "id" in told and "tool_call_id" not in told:
        told["tool_call_id"] = told["id"]
    return {key: parsed(value) if key == "tool_calls" else value for key, value in told.items()}


def _tools(told: Mapping[str, Json]) -> tuple[Any, ...]:
    written = first(told, "gen_ai.tool.definitions", "gen_ai.request.tools", "ai.prompt.tools")
    if written is None:
        functions = nested_attributes(told, "llm.request.functions")
        written = [_parsed_parts(mapping(each)) for each in items(functions)]
    if not written:
        written = [mapping(mapping(each).get("tool")) or each for each in items(nested_attributes(told, "llm.tools"))]
    return tools_of(written)


def _parsed_parts(function: Mapping[str, Json]) -> Json:
    return {key: parsed(value) if key != "description" else value for key, value in function.items()}
