from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.openai.responses import read_reply
from pytest_fcall.backends.recordings.entry import reply_from_data, reply_to_data
from pytest_fcall.core import CaseRefused, Finish, Json, Message, RawCall, Tool, Unanswered, Usage
from pytest_fcall.schema.wire_tools import tools_for_wire
from tests.servers import Server, not_openai, responses
from tests.unit.backends.openai.asking import USER, WEATHER, ask, request, sent, thread
from tests.unit.backends.openai.test_chat import JSON, shaped

NOTHING_OFFERED = tools_for_wire(())


def test_only_what_was_asked_for_is_sent(server: Server) -> None:
    ask(server, request(WEATHER), api="responses")
    assert server.asked[0].path == "/v1/responses"
    assert sent(server) == {
        "model": "exam",
        "input": [USER],
        "stream": False,  # transformers' server streams if nothing is said
        "tools": [
            {
                "type": "function",
                "name": "get_weather",
                "description": "The weather in a city",
                "parameters": WEATHER.parameters,
                "strict": False,  # it would be true if nothing were said
            }
        ],
    }


def test_settings_have_the_names_that_this_interface_has_for_them(server: Server) -> None:
    asked = request(WEATHER, max_tokens=9, reasoning_effort="low", tool_choice="get_weather", temperature=0)
    ask(server, asked, api="responses")
    body = sent(server)
    assert body["max_output_tokens"] == 9
    assert body["reasoning"] == {"effort": "low"}
    assert body["tool_choice"] == {"type": "function", "name": "get_weather"}
    assert body["temperature"] == 0
    assert "max_tokens" not in body
    assert "reasoning_effort" not in body


def test_a_tool_is_chosen_in_the_form_of_chat_too(server: Server) -> None:
    choice: Json = {"type": "function", "function": {"name": "weather.get"}}
    ask(server, request(Tool("weather.get"), tool_choice=choice), api="responses")
    assert sent(server)["tool_choice"] == {"type": "function", "name": "weather_get"}


def test_earlier_messages_become_items(server: Server) -> None:
    picture: Json = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA==", "detail": "low"}}
    call: dict[str, Json] = {
        "id": "c1",
        "type": "function",
        "function": {"name": "weather.get", "arguments": '{"city": "Oslo"}'},
    }
    history: tuple[Message, ...] = (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Where is this?"}, picture]},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}], "tool_calls": [call]},
        {"role": "assistant", "content": None, "tool_calls": [call | {"id": "c2"}]},
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "rain"}]},
        {"role": "user", "content": ""},
    )
    server.script(responses("Oslo."))
    ask(server, thread(history, Tool("weather.get")), api="responses")
    called = {"type": "function_call", "name": "weather_get", "arguments": '{"city": "Oslo"}'}
    assert sent(server)["input"] == [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Where is this?"},
                {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "low"},
            ],
        },
        {"role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        called | {"call_id": "c1"},
        called | {"call_id": "c2"},
        {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
        {"type": "function_call_output", "call_id": "c2", "output": "rain"},
        {"role": "user", "content": ""},
    ]


def test_calls_of_the_old_form_are_items_too(server: Server) -> None:
    history: tuple[Message, ...] = (
        {"role": "assistant", "content": None, "function_call": {"name": "weather.get", "arguments": "{}"}},
        {"role": "function", "name": "weather.get", "content": "sunny"},
    )
    server.script(responses("Fine."))
    ask(server, thread(history, Tool("weather.get")), api="responses")
    assert sent(server)["input"] == [
        {"type": "function_call", "call_id": "weather_get", "name": "weather_get", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "weather_get", "output": "sunny"},
    ]


def test_a_reply_has_text_calls_usage_and_what_answered(server: Server) -> None:
    usage = {
        "input_tokens": 20,
        "output_tokens": 10,
        "input_tokens_details": {"cached_tokens": 16},
        "output_tokens_details": {"reasoning_tokens": 7},
    }
    server.script(responses("I look.", [("weather_get", {"city": "Oslo"}), ("weather_get", "{")], usage=usage))
    reply = ask(server, request(Tool("weather.get")), api="responses")
    assert reply.text == "I look."
    assert reply.tool_calls == (
        RawCall("weather.get", '{"city": "Oslo"}', "call_0"),
        RawCall("weather.get", "{", "call_1"),
    )
    assert reply.finish == "tool_calls"
    assert reply.usage == Usage(20, 10, cached_tokens=16, reasoning_tokens=7)
    assert reply.engine == {"model": "exam-1"}


@pytest.mark.parametrize(
    ("body", "finish", "text"),
    [
        ({}, "stop", "Hi"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length", "Hi"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "content_filter", "Hi"),
        ({"status": "incomplete", "incomplete_details": None}, "unknown", "Hi"),
        ({"output": []}, "stop", ""),
        ({"output": [None, "x", {"type": "reasoning", "content": [{"type": "text", "text": "hm"}]}]}, "stop", ""),
    ],
)
def test_the_reason_for_the_end_is_told(server: Server, body: dict[str, Any], finish: Finish, text: str) -> None:
    server.script(responses("Hi", **body))
    reply = ask(server, request(), api="responses")
    assert (reply.finish, reply.text) == (finish, text)


def test_a_refusal_is_told(server: Server) -> None:
    message = {"type": "message", "content": [{"type": "refusal", "refusal": "I cannot."}]}
    server.script(responses(output=[message]))
    reply = ask(server, request(), api="responses")
    assert (reply.refusal, reply.finish, reply.text) == ("I cannot.", "refusal", "")


def test_a_tool_of_free_text_is_read() -> None:
    item = {"type": "custom_tool_call", "id": "ctc_1", "name": "f", "input": "ls"}
    reply = read_reply({"output": [item]}, NOTHING_OFFERED)
    assert reply is not None
    assert reply.tool_calls == (RawCall("f", "ls", "ctc_1"),)


def test_a_failure_in_a_good_answer_is_sorted_like_any_other(server: Server) -> None:
    server.script(responses("Hi", status="failed", error={"code": "invalid_prompt", "message": "Not this."}))
    with pytest.raises(CaseRefused, match="content filter stopped the prompt: Not this"):
        ask(server, request(), api="responses")
    server.script(responses(status="failed", error={"code": "rate_limit_exceeded", "message": "Slow down."}))
    with pytest.raises(Unanswered) as caught:
        ask(server, request(), api="responses")
    assert caught.value.throttled


@pytest.mark.parametrize(
    "body", [{}, {"output": None}, {"output": {}}, {"output": [], "status": "queued"}, {"choices": []}]
)
def test_a_body_without_an_answer_is_no_reply(server: Server, body: Json) -> None:
    server.script(not_openai(body))
    with pytest.raises(Unanswered):
        ask(server, request(), api="responses")


ITEM = shaped(
    type=st.sampled_from(["message", "function_call", "reasoning"]),
    content=JSON,
    name=JSON,
    arguments=JSON,
    call_id=JSON,
)
BODY = st.fixed_dictionaries(
    {}, optional={"output": st.lists(ITEM) | JSON, "status": JSON, "incomplete_details": JSON, "usage": JSON}
)


@given(BODY)
def test_any_body_is_a_reply_that_can_be_recorded_or_none(body: dict[str, Json]) -> None:
    reply = read_reply(body, NOTHING_OFFERED)
    assert reply is None or reply_from_data(reply_to_data(reply)) == reply
