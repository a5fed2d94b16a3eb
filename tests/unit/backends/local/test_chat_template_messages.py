from __future__ import annotations

from pytest_fcall.backends.local.chat_template import with_names
from pytest_fcall.core import Message

CALLS: Message = {
    "role": "assistant",
    "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "search", "arguments": "{}"}},
        {"id": "b", "type": "function", "function": {"name": "book", "arguments": "{}"}},
    ],
}


def test_results_are_given_the_names_of_the_functions_that_gave_them() -> None:
    told = with_names([CALLS, {"role": "tool", "tool_call_id": "b"}, {"role": "tool", "tool_call_id": "a"}])
    assert [message.get("name") for message in told] == [None, "book", "search"]


def test_a_name_that_is_said_stays_and_a_result_of_nobody_has_none() -> None:
    said: Message = {"role": "tool", "tool_call_id": "a", "name": "find"}
    stray: Message = {"role": "tool", "tool_call_id": "c", "content": "?"}
    assert with_names([CALLS, said, stray]) == [CALLS, said, stray]


def test_calls_that_are_none_do_no_harm() -> None:
    strange: Message = {"role": "assistant", "tool_calls": [1, {"id": "a"}, {"function": "x"}]}
    assert with_names([strange, {"role": "tool", "tool_call_id": "a"}])[0] == strange
