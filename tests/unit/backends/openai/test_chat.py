from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.openai.backend import prepare_request
from pytest_fcall.backends.openai.chat import read_reply
from pytest_fcall.backends.recordings.entry import reply_from_data, reply_to_data
from pytest_fcall.core import Finish, Json, Message, RawCall, Tool, Unanswered, Usage
from pytest_fcall.schema.wire_tools import tools_for_wire
from tests.servers import Server, chat, not_openai
from tests.unit.backends.openai.asking import USER, WEATHER, ask, request, sent, thread

NOTHING_OFFERED = tools_for_wire(())


def test_only_what_was_asked_for_is_sent(server: Server) -> None:
    ask(server, request(WEATHER))
    assert server.asked[0].path == "/v1/chat/completions"
    assert sent(server) == {
        "model": "exam",
        "messages": [USER],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "get_weather",
                    "description": "The weather in a city",
                    "parameters": WEATHER.parameters,
                },
            }
        ],
    }


@pytest.mark.parametrize(
    ("model", "proposed", "sent"),
    [
        ("gpt-4o", {"temperature"}, 0.5),
        ("gpt-5.2", {"temperature"}, None),
        ("o4-mini", {"temperature"}, None),
        ("openai/o3", {"temperature"}, None),
        ("gpt-4o1", {"temperature"}, 0.5),
        ("gpt-5.2", set(), 0.5),
    ],
)
def test_a_temperature_that_only_a_suite_proposes_is_not_sent_to_models_that_refuse_it(
    model: str, proposed: set[str], sent: float | None
) -> None:
    asked = replace(request(temperature=0.5), proposed=frozenset(proposed))
    prepared = prepare_request(model, {}, asked, official=False)
    assert json.loads(prepared.body).get("temperature") == sent
    assert bool(prepared.wire.wire_tools.changes) is (sent is None)


def test_a_reply_has_text_calls_usage_and_what_answered(server: Server) -> None:
    usage = {
        "prompt_tokens": 20,
        "completion_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 16},
        "completion_tokens_details": {"reasoning_tokens": 7},
    }
    server.script(chat("Let me look.", [("get_weather", {"city": "Oslo"})], usage=usage, provider="Some host"))
    reply = ask(server, request(WEATHER))
    assert reply.text == "Let me look."
    assert reply.tool_calls == (RawCall("get_weather", '{"city": "Oslo"}', "call_0"),)
    assert reply.finish == "tool_calls"
    assert reply.usage == Usage(20, 10, cached_tokens=16, reasoning_tokens=7)
    assert reply.engine == {"model": "exam-1", "system_fingerprint": "fp_1", "provider": "Some host"}
    assert reply.seconds is not None
    assert reply.decoder is None
    assert reply.malformed is None


def test_parallel_calls_keep_their_order(server: Server) -> None:
    server.script(chat(calls=[("get_weather", {"city": "Rome"}), ("get_weather", {"city": "Oslo"})]))
    reply = ask(server, request(WEATHER))
    assert [call.arguments for call in reply.tool_calls] == ['{"city": "Rome"}', '{"city": "Oslo"}']
    assert [call.id for call in reply.tool_calls] == ["call_0", "call_1"]


def test_what_a_provider_wants_to_see_again_is_kept(server: Server) -> None:
    signed = {"extra_content": {"google": {"thought_signature": "s1"}}}
    call = {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    server.script(chat(message={"tool_calls": [{**call, **signed}, call], "reasoning_details": [{"data": "d"}]}))
    reply = ask(server, request(WEATHER))
    assert [raw.extra for raw in reply.tool_calls] == [signed, None]
    assert reply.extra == {"reasoning_details": [{"data": "d"}]}


@pytest.mark.parametrize("signed", [True, False])
def test_thoughts_go_back_with_their_signature_only(server: Server, signed: bool) -> None:
    signature = {"extra_content": {"anthropic": {"signature": "s1"}}} if signed else {}
    server.script(chat("Hello", message={"reasoning": {"content": "They greet."}, **signature}))
    assert ask(server, request()).extra == ({"reasoning": {"content": "They greet."}, **signature} if signed else None)


def test_names_that_the_wire_does_not_take_come_back_as_they_were(server: Server) -> None:
    tool = Tool("weather.get")
    history: tuple[Message, ...] = (
        USER,
        {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "weather.get", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "sunny"},
    )
    server.script(chat(calls=[("weather_get", {}), ("weather.get", {}), ("made_up", {})]))
    reply = ask(server, thread(history, tool, tool_choice="weather.get"))
    assert [call.name for call in reply.tool_calls] == ["weather.get", "weather.get", "made_up"]
    body = sent(server)
    assert body["tools"][0]["function"]["name"] == "weather_get"
    assert body["tool_choice"] == {"type": "function", "function": {"name": "weather_get"}}
    assert body["messages"][1]["tool_calls"][0]["function"]["name"] == "weather_get"
    assert body["messages"][1]["content"] is None


def test_a_function_call_of_old_is_read(server: Server) -> None:
    call = {"name": "get_weather", "arguments": '{"city": "Oslo"}'}
    server.script(chat(message={"function_call": call}, finish_reason="function_call"))
    reply = ask(server, request(WEATHER))
    assert reply.tool_calls == (RawCall("get_weather", '{"city": "Oslo"}'),)
    assert reply.finish == "tool_calls"


@pytest.mark.parametrize(
    ("calls", "read"),
    [
        (None, ()),
        ([], ()),
        ("", ()),
        ({}, ()),
        ([None], (RawCall(None, None),)),
        (["get_weather"], (RawCall(None, "get_weather"),)),
        ([{"function": {"name": None, "arguments": None}}], (RawCall(None, None),)),
        ([{"function": {"name": "f", "arguments": {"a": 1}}, "id": 7}], (RawCall("f", {"a": 1}),)),
        ([{"name": "f", "arguments": "{"}], (RawCall("f", "{"),)),
        ([{"function": "f"}], (RawCall(None, None),)),
        ({"function": {"name": "f", "arguments": ""}}, (RawCall("f", ""),)),
        ([{"type": "custom", "id": "c", "custom": {"name": "f", "input": "ls"}}], (RawCall("f", "ls", "c"),)),
    ],
)
def test_tool_calls_of_any_shape_are_left_for_decoding(calls: Json, read: tuple[RawCall, ...]) -> None:
    reply = read_reply({"choices": [{"message": {"content": None, "tool_calls": calls}}]}, NOTHING_OFFERED)
    assert reply is not None
    assert reply.tool_calls == read


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("Sunny.", "Sunny."),
        ([], ""),
        ([{"type": "text", "text": "Sun"}, {"type": "output_text", "text": "ny."}], "Sunny."),
        (["Sun", {"text": "ny."}], "Sunny."),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Sunny."}], "Sunny."),
        ([{"type": "text", "text": None}, {"type": "image_url", "text": "no"}], ""),
        ({"type": "text", "text": "Sunny."}, "Sunny."),
        (7, ""),
    ],
)
def test_a_content_may_be_a_text_or_parts(content: Json, text: str) -> None:
    reply = read_reply({"choices": [{"message": {"content": content}}]}, NOTHING_OFFERED)
    assert reply is not None
    assert reply.text == text


def test_thinking_is_no_part_of_the_text(server: Server) -> None:
    server.script(chat("Sunny.", message={"reasoning_content": "hm", "reasoning": "hm", "thinking": "hm"}))
    assert ask(server, request()).text == "Sunny."


@pytest.mark.parametrize(
    "message", [{"refusal": "I cannot."}, {"content": [{"type": "refusal", "refusal": "I cannot."}]}]
)
def test_a_refusal_is_told(server: Server, message: dict[str, Any]) -> None:
    server.script(chat(message=message))
    reply = ask(server, request())
    assert (reply.refusal, reply.finish, reply.text) == ("I cannot.", "refusal", "")


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", "stop"),
        ("STOP", "stop"),
        ("eos", "stop"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("length", "length"),
        ("model_length", "length"),
        ("content_filter", "content_filter"),
        ("SAFETY", "content_filter"),
        ("abort", "unknown"),
    ],
)
def test_the_reason_for_the_end_is_told(server: Server, reason: str, finish: Finish) -> None:
    server.script(chat("Well", finish_reason=reason))
    assert ask(server, request()).finish == finish


def test_an_answer_that_a_filter_took_away_is_a_reply(server: Server) -> None:
    server.script(not_openai({"choices": [{"finish_reason": "content_filter", "content_filter_results": {}}]}))
    assert ask(server, request()).finish == "content_filter"


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "function_call_filter: MALFORMED_FUNCTION_CALL"])
def test_a_call_that_the_provider_could_not_read_is_malformed(server: Server, reason: str) -> None:
    server.script(chat(finish_reason=reason))
    assert ask(server, request(WEATHER)).malformed == f"The provider could not read the model's call: {reason}."


@pytest.mark.parametrize(
    "usage",
    [None, [], "20", {}, {"prompt_tokens": "20", "completion_tokens": -1}, {"prompt_tokens": True}],
)
def test_usage_that_is_none_stays_unknown(server: Server, usage: Json) -> None:
    server.script(chat("Hello", usage=usage))
    assert ask(server, request()).usage in (None, Usage())


def test_usage_is_read_by_the_names_of_other_servers_too() -> None:
    usage = {"input_tokens": 9, "output_tokens": 3, "prompt_cache_hit_tokens": 4, "reasoning_tokens": 2}
    reply = read_reply({"choices": [{"message": {"content": ""}}], "usage": usage}, NOTHING_OFFERED)
    assert reply is not None
    assert reply.usage == Usage(9, 3, 4, 2)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": None},
        {"choices": []},
        {"choices": {}},
        {"choices": [None]},
        {"choices": ["stop"]},
        {"choices": [{}]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": "Hello"}]},
        {"choices": [], "usage": {"prompt_tokens": 1}},
        {"id": "x", "output": []},
    ],
)
def test_a_body_without_an_answer_is_no_reply(server: Server, body: Json) -> None:
    server.script(not_openai(body))
    with pytest.raises(Unanswered, match=r"^openai:exam: the server"):
        ask(server, request())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def shaped(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({}, optional=fields) | JSON


CALL = shaped(id=JSON, function=shaped(name=JSON, arguments=JSON), custom=JSON, extra_content=JSON)
MESSAGE = shaped(content=JSON, tool_calls=st.lists(CALL) | JSON, function_call=CALL, refusal=JSON)
CHOICE = shaped(message=MESSAGE, finish_reason=JSON, error=JSON)
BODY = st.fixed_dictionaries({}, optional={"choices": st.lists(CHOICE) | JSON, "usage": shaped(prompt_tokens=JSON)})


@given(BODY)
def test_any_body_is_a_reply_that_can_be_recorded_or_none(body: dict[str, Json]) -> None:
    reply = read_reply(body, NOTHING_OFFERED)
    assert reply is None or reply_from_data(reply_to_data(reply)) == reply
