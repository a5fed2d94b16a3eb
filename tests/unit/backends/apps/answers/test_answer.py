from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pytest_fcall.backends.apps.answers.answer import reply_of
from pytest_fcall.backends.apps.answers.errors import AnswerError
from pytest_fcall.core import Call, Message, RawCall, Usage

WEATHER: dict[str, Any] = {"city": "Oslo"}
OPENAI: Message = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    ],
}
ASKED: list[Message] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Weather in Oslo?"}]


@pytest.mark.parametrize(
    "answer",
    [
        [{"name": "get_weather", "arguments": WEATHER}],
        [{"name": "get_weather", "args": WEATHER}],
        [{"function": {"name": "get_weather", "arguments": WEATHER}}],
        {"name": "get_weather", "arguments": WEATHER},
        [Call("get_weather", WEATHER)],
        Call("get_weather", WEATHER),
        {"role": "assistant", "content": [{"type": "tool_use", "id": None, "name": "get_weather", "input": WEATHER}]},
        {"role": "assistant", "function_call": {"name": "get_weather", "arguments": WEATHER}},
    ],
)
def test_calls_may_be_returned_in_these_forms(answer: object) -> None:
    reply = reply_of(answer)
    assert reply.tool_calls == (RawCall("get_weather", WEATHER),)
    assert reply.finish == "tool_calls"


def test_openai_messages_keep_arguments_as_the_text_they_are() -> None:
    assert reply_of(OPENAI).tool_calls == (RawCall("get_weather", '{"city": "Oslo"}', "c1"),)


def test_a_whole_completion_carries_finish_reason_usage_and_model() -> None:
    reply = reply_of(
        {
            "model": "gpt-5.2-2026-01-01",
            "choices": [{"message": {"role": "assistant", "content": "Par"}, "finish_reason": "length"}],
            "usage": {"prompt_tokens": 12, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 8}},
        }
    )
    assert (reply.text, reply.finish) == ("Par", "length")
    assert reply.usage == Usage(12, 1, cached_tokens=8)
    assert reply.engine == {"model": "gpt-5.2-2026-01-01"}


def test_an_anthropic_answer_carries_text_calls_stop_reason_and_usage() -> None:
    reply = reply_of(
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me look. "},
                {"type": "tool_use", "id": "t1", "name": "get_weather", "input": WEATHER},
            ],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 9, "output_tokens": 5},
        }
    )
    assert reply.text == "Let me look. "
    assert reply.tool_calls == (RawCall("get_weather", WEATHER, "t1"),)
    assert (reply.finish, reply.usage) == ("tool_calls", Usage(9, 5))


def test_a_text_that_is_none_says_nothing_and_counts_that_are_none_are_not_known() -> None:
    content = [{"type": "text", "text": None}, {"type": "refusal", "refusal": "I will not."}]
    reply = reply_of({"role": "assistant", "content": content, "usage": {"input_tokens": True, "output_tokens": -1}})
    assert (reply.text, reply.refusal, reply.usage) == ("", "I will not.", Usage())


def test_objects_of_provider_libraries_are_read_by_what_they_dump() -> None:
    message = SimpleNamespace(model_dump=lambda: OPENAI)
    assert reply_of(message) == reply_of(OPENAI)
    assert reply_of([message]).tool_calls == reply_of(OPENAI).tool_calls


def test_what_all_steps_of_the_ai_sdk_said_counts_more_than_the_response_of_the_last() -> None:
    call = {"type": "tool-call", "toolCallId": "c1", "toolName": "get_weather", "input": WEATHER}
    last = {"role": "assistant", "content": [{"type": "text", "text": "Cold."}]}
    all_steps = [{"role": "assistant", "content": [call]}, last]

    for answer in ({"responseMessages": all_steps}, {"responseMessages": all_steps, "response": {"messages": [last]}}):
        reply = reply_of(answer)
        assert (reply.tool_calls, reply.text) == ((RawCall("get_weather", WEATHER, "c1"),), "Cold.")


def test_text_is_text() -> None:
    assert reply_of("No idea.").text == "No idea."
    assert reply_of(None).text == ""


def test_an_empty_list_says_outright_that_nothing_is_called() -> None:
    reply = reply_of([])
    assert (reply.text, reply.decoder) == ("[]", "json")


@pytest.mark.parametrize("prefix", [[], ASKED, [{"role": "system", "content": "My own."}, *ASKED]])
def test_a_trail_gives_all_new_calls_in_order_and_the_last_text(prefix: list[Message]) -> None:
    trail = [
        *prefix,
        OPENAI,
        {"role": "tool", "tool_call_id": "c1", "content": "-3"},
        {"role": "assistant", "content": "It is cold."},
    ]
    reply = reply_of(trail, ASKED)
    assert [call.name for call in reply.tool_calls] == ["get_weather"]
    assert reply.text == "It is cold."
    assert [*reply.trail] == [*ASKED, *trail[len(prefix) :]]


def test_calls_of_earlier_turns_are_not_new_to_an_app_that_changes_what_was_said_before() -> None:
    asked: list[Message] = [*ASKED, OPENAI, {"role": "assistant", "content": "Cold."}, {"role": "user", "content": "?"}]
    shortened = [{"role": "system", "content": "All that was said: it is cold."}, OPENAI, asked[-1]]
    reply = reply_of([*shortened, {"role": "assistant", "content": "Yes."}], asked)
    assert not reply.tool_calls
    assert [*reply.trail] == [*asked, {"role": "assistant", "content": "Yes."}]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (17, "returned a value of type int; allowed: text"),
        ({"result": 1}, "a dict with 'result'"),
        ({}, "a dict with no keys"),
        ([1], "a list with 1 in it"),
        ([{"arguments": {}}], "in it"),
        (b"hello", "returned a value of type bytes"),
        (ASKED, "no new message with the role 'assistant'"),
        ({"choices": [], "object": "x"}, "a dict with 'choices'"),
        ({"choices": ["nonsense"]}, "choices"),
        ({"choices": [{"message": "nonsense"}]}, "choices"),
        ({"role": "assistant", "tool_calls": 5}, "tool_calls"),
        ({"role": "assistant", "tool_calls": ["nonsense"]}, "nonsense"),
    ],
)
def test_what_cannot_be_read_is_told_in_words(answer: object, message: str) -> None:
    with pytest.raises(AnswerError, match=message):
        reply_of(answer, ASKED)


def test_a_text_beside_calls_is_not_lost() -> None:
    reply = reply_of({"text": "It is cold.", "tool_calls": []})
    assert (reply.text, reply.tool_calls) == ("It is cold.", ())
