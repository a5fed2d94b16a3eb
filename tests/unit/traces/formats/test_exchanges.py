from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fcall.core import Json
from tests.unit.traces.support import (
    ANTHROPIC_TOOL,
    CHAT_TOOL,
    FLAT_TOOL,
    calling,
    calls_in,
    chat_call,
    chat_log,
    read_all,
    read_one,
    roles,
    saying,
    user,
    write_lines,
)

CHAT_REQUEST: dict[str, Json] = {"model": "gpt-5.2", "messages": [user("Oslo?")], "tools": [CHAT_TOOL]}
CHAT_ANSWER: dict[str, Json] = {"choices": [{"message": calling(), "finish_reason": "tool_calls"}]}


def test_chat_completions_are_read(tmp_path: Path) -> None:
    record = read_one(tmp_path, chat_log([user("Oslo?")], calling(), temperature=0, stream=True))
    assert calls_in(record) == [("get_weather", {"city": "Oslo"})]
    assert [tool.name for tool in record.tools] == ["get_weather"]
    assert record.model == "gpt-5.2-1120"
    assert record.settings == {"temperature": 0}
    assert record.place == "log.jsonl:1"


@pytest.mark.parametrize(
    "row",
    [
        {"request": CHAT_REQUEST, "response": CHAT_ANSWER},
        {"body": CHAT_REQUEST, "response": {"status_code": 200, "body": CHAT_ANSWER}},
        {
            "request": {"method": "POST", "body": json.dumps(CHAT_REQUEST)},
            "response": {"body": json.dumps(CHAT_ANSWER)},
        },
        {"request_body": CHAT_REQUEST, "response_body": CHAT_ANSWER},
        {"input": CHAT_REQUEST, "output": CHAT_ANSWER},
        {**CHAT_REQUEST, "response": CHAT_ANSWER},
        {**CHAT_REQUEST, "completion": calling()},
        {"messages": [user("Oslo?"), calling()], "tools": [CHAT_TOOL]},
    ],
    ids=["pair", "batch", "texts", "bodies", "in-out", "flat", "message", "fine-tuning"],
)
def test_it_does_not_matter_how_a_logger_puts_it(tmp_path: Path, row: Json) -> None:
    record = read_one(tmp_path, row)
    assert calls_in(record) == [("get_weather", {"city": "Oslo"})]
    assert len(record.tools) == 1


def test_responses_are_read(tmp_path: Path) -> None:
    request: Json = {"model": "gpt-5.2", "instructions": "Be brief.", "input": "Oslo?", "tools": [FLAT_TOOL]}
    output: Json = [
        {"type": "reasoning", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me see."}]},
        {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": '{"city": "Oslo"}'},
    ]
    answer: Json = {"id": "r1", "object": "response", "status": "completed", "output": output}
    record = read_one(tmp_path, {"request": request, "response": answer})
    assert roles(record.messages) == ["system", "user", "assistant"]
    assert record.messages[-1]["content"] == "Let me see."
    assert calls_in(record) == [("get_weather", {"city": "Oslo"})]


def test_items_of_responses_become_messages(tmp_path: Path) -> None:
    said: Json = [
        {"role": "user", "content": [{"type": "input_text", "text": "Oslo?"}]},
        {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "cold"},
    ]
    answer: Json = {
        "object": "response",
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Cold."}]}],
    }
    record = read_one(tmp_path, {"request": {"model": "m", "input": said}, "response": answer})
    assert roles(record.messages) == ["user", "assistant", "tool", "assistant"]
    assert record.messages[2] == {"role": "tool", "tool_call_id": "c1", "content": "cold"}


def test_messages_of_anthropic_are_read(tmp_path: Path) -> None:
    request: Json = {
        "model": "claude-sonnet-5",
        "max_tokens": 100,
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            user("Oslo?"),
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "t1", "name": "get_weather", "input": {"city": "Oslo"}}],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "3"}]}],
            },
        ],
        "tools": [ANTHROPIC_TOOL],
        "tool_choice": {"type": "any"},
    }
    answer: Json = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "3 degrees."}],
        "stop_reason": "end_turn",
    }
    record = read_one(tmp_path, {"request": request, "response": answer})
    assert roles(record.messages) == ["system", "user", "assistant", "tool", "assistant"]
    assert record.messages[3]["content"] == "3"
    assert record.messages[-1]["content"] == "3 degrees."
    assert record.settings == {"max_tokens": 100, "tool_choice": "required"}
    assert record.tools[0].parameters["required"] == ["city"]


@pytest.mark.parametrize("as_text", [True, False])
def test_a_streamed_answer_is_put_together(tmp_path: Path, *, as_text: bool) -> None:
    pieces: list[Json] = [
        {
            "choices": [
                {
                    "delta": {
                        "tool_calls": [
                            {"index": 0, "id": "c1", "function": {"name": "get_weather", "arguments": '{"ci'}}
                        ]
                    }
                }
            ]
        },
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": 'ty": "Oslo"}'}}]}}]},
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
    ]
    streamed: Json = "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces) if as_text else pieces
    record = read_one(tmp_path, {"request": CHAT_REQUEST, "response": streamed})
    assert calls_in(record) == [("get_weather", {"city": "Oslo"})]


def test_what_stands_in_headers_is_never_read(tmp_path: Path) -> None:
    row = chat_log([user("Oslo?")], calling())
    secret = "sk-" + "a1" * 20
    row["request"] = {"headers": {"Authorization": f"Bearer {secret}"}, "body": row["request"]}
    assert secret not in repr(read_one(tmp_path, row))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"error": {"message": "no quota"}}, "the request failed"),
        ({"choices": [{"message": saying("Weath"), "finish_reason": "length"}]}, "the answer is incomplete: length"),
        ({"choices": [{"message": {"refusal": "No."}, "finish_reason": "stop"}]}, "the model refused"),
        ({"choices": []}, "the answer holds no reply"),
    ],
)
def test_what_is_no_answer_is_told(tmp_path: Path, answer: Json, why: str) -> None:
    records, unread = read_all(write_lines(tmp_path / "log.jsonl", {"request": CHAT_REQUEST, "response": answer}))
    assert not records
    assert [each.reason for each in unread] == [why]


def test_functions_of_old_are_read(tmp_path: Path) -> None:
    request: Json = {
        "messages": [user("Oslo?")],
        "functions": [{"name": "get_weather", "parameters": {"type": "object"}}],
    }
    reply: Json = {"role": "assistant", "content": None, "function_call": {"name": "get_weather", "arguments": "{}"}}
    record = read_one(tmp_path, {"request": request, "response": {"choices": [{"message": reply}]}})
    assert calls_in(record) == [("get_weather", {})]
    assert [tool.name for tool in record.tools] == ["get_weather"]


def test_a_tool_that_is_named_as_the_choice_stays_one(tmp_path: Path) -> None:
    choice: Json = {"type": "function", "function": {"name": "get_weather"}}
    record = read_one(tmp_path, chat_log([user("Oslo?")], calling(chat_call()), tool_choice=choice))
    assert record.settings == {"tool_choice": "get_weather"}


def test_only_answers_that_a_provider_keeps_have_a_name_to_go_on_from(tmp_path: Path) -> None:
    output: Json = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]}]
    kept: Json = {"request": {"model": "m", "input": "Hi"}, "response": {"id": "r1", "output": output}}
    more: Json = {"model": "m", "input": "Bye", "previous_response_id": "r1"}
    records, _ = read_all(write_lines(tmp_path / "log.jsonl", kept, {"request": more, "response": {"output": output}}))
    assert [(record.id, record.previous_id) for record in records] == [("r1", ""), ("", "r1")]
    assert read_one(tmp_path, chat_log([user("Oslo?")], calling())).id == ""


def test_tools_and_settings_that_litellm_logs_beside_the_messages_are_read(tmp_path: Path) -> None:
    row: Json = {
        "model": "gpt-5.2",
        "messages": [user("Oslo?")],
        "model_parameters": {"tools": [CHAT_TOOL], "temperature": 0},
        "response": {"choices": [{"message": calling(), "finish_reason": "tool_calls"}]},
    }
    record = read_one(tmp_path, row)
    assert ([tool.name for tool in record.tools], record.settings) == (["get_weather"], {"temperature": 0})
