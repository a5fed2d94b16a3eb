"""OpenTelemetry: spans of requests to models, by the names of today, of earlier, and of tracing libraries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_fcall.core import Json, Message
from pytest_fcall.traces.formats.attributes import events_of, flat, nested, spans_of
from pytest_fcall.traces.messages import messages_of
from pytest_fcall.traces.record import NotSaid, Record
from pytest_fcall.traces.settings import settings_of
from pytest_fcall.traces.tools import tools_of
from pytest_fcall.traces.values import first, items, mapping, parsed, text

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
    told = flat(span.get("attributes"))
    if told.get("gen_ai.operation.name") in _NO_REQUESTS:
        return None
    asked: tuple[Message, ...] = ()
    answer: tuple[Message, ...] = ()
    for name, event in events_of(span):
        if name == _DETAILS:
            told = {**event, **told}
        elif name == "gen_ai.choice":
            answer += _choice(event)
        elif name.startswith("gen_ai.") and name.endswith(".message"):
            asked += messages_of({"role": name.split(".")[1], **_unpacked(event)})
        elif name in ("gen_ai.content.prompt", "gen_ai.content.completion"):
            told = {**told, **event}
    asked = asked or _asked(told)
    if not asked:
        return None
    return Record(
        trail=(*asked, *(answer or _answered(told))),
        place=place,
        tools=_tools(told),
        model=text(first(told, "gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.model.id")) or "",
        moment=str(first(span, "startTimeUnixNano", "start_time_unix_nano", "start_time") or ""),
        settings=settings_of(
            {name: told.get(f"gen_ai.request.{name}") for name in ("temperature", "top_p", "max_tokens", "seed")}
        ),
    )


def _asked(told: Mapping[str, Json]) -> tuple[Message, ...]:
    said = first(told, "gen_ai.input.messages", "gen_ai.prompt", "ai.prompt.messages") or nested(told, "gen_ai.prompt")
    said = said or nested(told, "llm.input_messages")
    if said is None:
        return ()
    system = parsed(first(told, "gen_ai.system_instructions", "gen_ai.system.instructions"))
    before = messages_of({"role": "system", "content": system}) if system else ()
    return (*before, *messages_of(said))


def _answered(told: Mapping[str, Json]) -> tuple[Message, ...]:
    said = first(told, "gen_ai.output.messages", "gen_ai.completion") or nested(told, "gen_ai.completion")
    said = parsed(said or nested(told, "llm.output_messages") or _of_vercel(told))
    if said is None:
        raise NotSaid("it has no answer")
    if isinstance(said, str):
        return ({"role": "assistant", "content": said},)
    return messages_of([{"role": "assistant", **mapping(each)} for each in items(said)][:1])


def _of_vercel(told: Mapping[str, Json]) -> Json:
    """The answer in the words of Vercel's AI SDK."""
    words, calls = told.get("ai.response.text"), parsed(told.get("ai.response.toolCalls"))
    return [{"content": words, "tool_calls": calls}] if words or calls else None


def _choice(event: Mapping[str, Json]) -> tuple[Message, ...]:
    """The first choice alone; the others were never gone on with."""
    if event.get("index") not in (None, 0, "0"):
        return ()
    body = _unpacked(event)
    return messages_of({**body, **mapping(parsed(body.get("message"))), "role": "assistant"})


def _unpacked(event: Mapping[str, Json]) -> dict[str, Any]:
    """The fields of an event, of which texts may be JSON, and all of them may stand in one."""
    told = {**event, **mapping(parsed(event.get("gen_ai.event.content")))}
    if "id" in told and "tool_call_id" not in told:
        told["tool_call_id"] = told["id"]
    return {key: parsed(value) if key == "tool_calls" else value for key, value in told.items()}


def _tools(told: Mapping[str, Json]) -> tuple[Any, ...]:
    written = first(told, "gen_ai.tool.definitions", "gen_ai.request.tools", "ai.prompt.tools")
    if written is None:
        functions = nested(told, "llm.request.functions")
        written = [_parsed_parts(mapping(each)) for each in items(functions)]
    if not written:
        written = [mapping(mapping(each).get("tool")) or each for each in items(nested(told, "llm.tools"))]
    return tools_of(written)


def _parsed_parts(function: Mapping[str, Json]) -> Json:
    return {key: parsed(value) if key != "description" else value for key, value in function.items()}
