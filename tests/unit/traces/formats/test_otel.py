from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.core import Json
from tests.unit.traces.support import CHAT_TOOL, FLAT_TOOL, PARAMETERS, calls_in, read_all, read_one, roles, write_lines

ASKED: Json = [{"role": "user", "parts": [{"type": "text", "content": "Oslo?"}]}]
ANSWERED: Json = [
    {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": {"city": "Oslo"}}],
        "finish_reason": "tool_call",
    }
]


def typed(value: Json) -> Json:
    """A value as OTLP's JSON writes it."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(each) for each in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": attributes(value)}}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def attributes(told: dict[str, Json]) -> list[Json]:
    return [{"key": key, "value": typed(value)} for key, value in told.items()]


def batch(told: dict[str, Json], events: Json = ()) -> dict[str, Json]:
    span: Json = {"name": "chat m", "spanId": "1", "attributes": attributes(told), "events": events}
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": [span]}]}]}


@pytest.mark.parametrize("as_text", [True, False], ids=["texts", "values"])
def test_spans_of_today_are_read(tmp_path: Path, *, as_text: bool) -> None:
    say: Any = json.dumps if as_text else lambda value: value
    told = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.max_tokens": 200,
        "gen_ai.system_instructions": say([{"type": "text", "content": "Be brief."}]),
        "gen_ai.input.messages": say(ASKED),
        "gen_ai.output.messages": say(ANSWERED),
        "gen_ai.tool.definitions": say([FLAT_TOOL]),
    }
    record = read_one(tmp_path, batch(told))
    assert roles(record.messages) == ["system", "user", "assistant"]
    assert calls_in(record) == [("get_weather", {"city": "Oslo"})]
    assert record.tools[0].parameters["required"] == ["city"]
    assert record.model == "m"
    assert record.settings == {"temperature": 0.5, "max_tokens": 200}


def test_results_of_calls_are_read(tmp_path: Path) -> None:
    result: Json = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": {"degrees": 3}}]}
    said: Json = [{"role": "assistant", "parts": [{"type": "text", "content": "Cold."}]}]
    asked = json.dumps([*list(ASKED), *list(ANSWERED), result])  # type: ignore[arg-type]  # they are lists
    record = read_one(tmp_path, batch({"gen_ai.input.messages": asked, "gen_ai.output.messages": json.dumps(said)}))
    assert roles(record.messages) == ["user", "assistant", "tool", "assistant"]
    assert record.messages[2]["content"] == '{"degrees": 3}'


def test_the_event_with_all_details_counts_as_attributes(tmp_path: Path) -> None:
    details: dict[str, Json] = {"gen_ai.input.messages": ASKED, "gen_ai.output.messages": ANSWERED}
    event: Json = {"name": "gen_ai.client.inference.operation.details", "attributes": attributes(details)}
    assert calls_in(read_one(tmp_path, batch({"gen_ai.request.model": "m"}, [event])))


@pytest.mark.parametrize("operation", ["invoke_agent", "execute_tool"])
def test_spans_around_requests_are_none(tmp_path: Path, operation: str) -> None:
    asked: dict[str, Json] = {"gen_ai.input.messages": ASKED, "gen_ai.output.messages": [{"role": "assistant"}]}
    around = batch({"gen_ai.operation.name": operation, **asked})
    request = batch({"gen_ai.input.messages": ASKED, "gen_ai.output.messages": ANSWERED})
    assert calls_in(read_one(tmp_path, around, request)) == [("get_weather", {"city": "Oslo"})]


@pytest.mark.parametrize("given", ["args", "input"])
def test_spans_of_vercels_library_are_read(tmp_path: Path, given: str) -> None:
    call: dict[str, Json] = {"toolCallId": "c1", "toolName": "get_weather", given: {"city": "Oslo"}}
    result: Json = {"type": "tool-result", "toolCallId": "c1", "output": {"type": "json", "value": {"degrees": 3}}}
    said: Json = [
        {"role": "user", "content": [{"type": "text", "text": "Oslo?"}]},
        {"role": "assistant", "content": [{"type": "tool-call", **call}]},
        {"role": "tool", "content": [result]},
        {"role": "user", "content": [{"type": "text", "text": "And now?"}]},
    ]
    told: dict[str, Json] = {
        "ai.model.id": "gpt-5.2",
        "ai.prompt.messages": json.dumps(said),
        "ai.prompt.tools": [json.dumps({"type": "function", "name": "get_weather", "inputSchema": PARAMETERS})],
        "ai.response.toolCalls": json.dumps([call]),
    }
    record = read_one(tmp_path, batch(told))
    assert roles(record.messages) == ["user", "assistant", "tool", "user", "assistant"]
    assert record.messages[2]["content"] == '{"degrees": 3}'
    assert calls_in(record)[-1] == ("get_weather", {"city": "Oslo"})
    assert (record.model, record.tools[0].name) == ("gpt-5.2", "get_weather")
    without = {**told, "ai.response.toolCalls": "", "ai.response.text": "Cold."}
    assert read_one(tmp_path, batch(without)).messages[-1]["content"] == "Cold."


def test_events_of_earlier_are_read(tmp_path: Path) -> None:
    call: Json = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    choice: dict[str, Json] = {"index": 0, "finish_reason": "tool_calls", "message": json.dumps({"tool_calls": [call]})}
    events: Json = [
        {"name": "gen_ai.system.message", "attributes": attributes({"content": "Be brief."})},
        {"name": "gen_ai.user.message", "attributes": attributes({"content": "Oslo?"})},
        {"name": "gen_ai.choice", "attributes": attributes(choice)},
        {"name": "gen_ai.choice", "attributes": attributes({"index": 1, "message": '{"content": "never mind"}'})},
    ]
    record = read_one(tmp_path, batch({"gen_ai.system": "openai"}, events))
    assert roles(record.messages) == ["system", "user", "assistant"]
    assert calls_in(record) == [("get_weather", {"city": "Oslo"})]


def test_log_records_of_one_span_are_one_record(tmp_path: Path) -> None:
    def logged(name: str, body: dict[str, Json], span: str) -> Json:
        return {"eventName": name, "spanId": span, "body": typed(body)}

    records: Json = [
        logged("gen_ai.user.message", {"content": "Oslo?"}, "a"),
        logged("gen_ai.user.message", {"content": "Rome?"}, "b"),
        logged("gen_ai.choice", {"index": 0, "message": {"content": "Cold."}}, "a"),
        logged("gen_ai.choice", {"index": 0, "message": {"content": "Warm."}}, "b"),
    ]
    batch_of_logs: Json = {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}
    found, _ = read_all(write_lines(tmp_path / "log.jsonl", batch_of_logs))
    assert [[message["content"] for message in record.messages] for record in found] == [
        ["Oslo?", "Cold."],
        ["Rome?", "Warm."],
    ]


def test_attributes_that_libraries_took_apart_are_put_together(tmp_path: Path) -> None:
    told: dict[str, Json] = {
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "Oslo?",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.tool_calls.0.id": "c1",
        "gen_ai.completion.0.tool_calls.0.name": "get_weather",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"city": "Oslo"}',
        "llm.request.functions.0.name": "get_weather",
        "llm.request.functions.0.description": "Tell the weather.",
        "llm.request.functions.0.parameters": json.dumps(PARAMETERS),
    }
    record = read_one(tmp_path, batch(told))
    assert calls_in(record) == [("get_weather", {"city": "Oslo"})]
    assert record.tools[0].description == "Tell the weather."


def test_the_names_of_openinference_are_read(tmp_path: Path) -> None:
    told: dict[str, Json] = {
        "llm.model_name": "m",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Oslo?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "get_weather",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"city": "Oslo"}',
        "llm.tools.0.tool.json_schema": json.dumps(CHAT_TOOL),
    }
    record = read_one(tmp_path, batch(told))
    assert calls_in(record) == [("get_weather", {"city": "Oslo"})]
    assert record.model == "m"
    assert [tool.name for tool in record.tools] == ["get_weather"]


def test_a_span_by_itself_is_read(tmp_path: Path) -> None:
    told: Json = {"gen_ai.prompt": "Oslo?", "gen_ai.completion": "Cold."}
    record = read_one(tmp_path, {"name": "chat", "context": {"span_id": "0x1"}, "attributes": told})
    assert [message["content"] for message in record.messages] == ["Oslo?", "Cold."]


def test_spans_of_tools_and_agents_give_nothing(tmp_path: Path) -> None:
    told: dict[str, Json] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_weather"}
    assert read_all(write_lines(tmp_path / "log.jsonl", batch(told))) == ([], [])


def test_an_index_out_of_all_bounds_is_no_index(tmp_path: Path) -> None:
    told: dict[str, Json] = {"gen_ai.prompt.99999999999999999999.role": "user", "gen_ai.prompt.0": "x"}
    records, unread = read_all(write_lines(tmp_path / "log.jsonl", batch(told)))
    assert not records
    assert len(unread) == 1
