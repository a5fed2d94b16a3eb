from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_fcall.backends.apps.agents.messages import HistoryCall, HistoryMessage, read_history, with_content
from pytest_fcall.core import CaseRefused
from tests.unit.backends.apps.agents.shapes import asked

CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"query": "tea"}'}}
SEARCHED = HistoryCall("c1", "search", {"query": "tea"})


def test_what_a_conversation_begins_with_and_ends_with_is_set_apart() -> None:
    history = read_history(
        asked(
            {"role": "system", "content": "Be brief."},
            {"role": "developer", "content": "Be kind."},
            {"role": "user", "content": "Tea?"},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "green"},
            {"role": "system", "content": "Now in French."},
            {"role": "user", "content": "And?"},
        ),
        "X",
    )
    assert history.system == "Be brief.\n\nBe kind."
    assert history.earlier == (
        HistoryMessage("user", "Tea?"),
        HistoryMessage("assistant", "", calls=(SEARCHED,)),
        HistoryMessage("tool", "green", call=SEARCHED),
        HistoryMessage("system", "Now in French."),
    )
    assert history.question() == HistoryMessage("user", "And?")


def test_messages_that_are_handed_on_as_they_are_have_a_content() -> None:
    messages = asked({"role": "assistant", "tool_calls": [CALL]}, {"role": "assistant", "content": None})
    called, silent = with_content(messages)
    assert called == {"role": "assistant", "tool_calls": [CALL], "content": ""}
    assert silent == {"role": "assistant", "content": ""}


def test_parts_are_text_and_pictures() -> None:
    parts = [
        {"type": "text", "text": "What "},
        {"type": "text", "text": "is it?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}},
    ]
    history = read_history(asked({"role": "user", "content": parts}), "X")
    assert history.question() == HistoryMessage("user", "What is it?", ("data:image/png;base64,UE5H",))
    assert history.image_inside("data:image/png;base64,UE5H") == ("image/png", "UE5H")


@pytest.mark.parametrize(
    ("message", "what"),
    [
        ({"role": "critic", "content": "x"}, "a message of the role 'critic'"),
        ({"role": "user", "name": "Eve", "content": "x"}, "the name of one who speaks"),
        ({"role": "assistant", "refusal": "no", "content": None}, "a refusal"),
        ({"role": "user", "content": [{"type": "input_audio"}]}, "a part of a message of the type 'input_audio'"),
        ({"role": "user", "content": ["x"]}, "a part of a message of the type 'str'"),
        ({"role": "user", "content": 3}, "a part of a message of the type 'int'"),
        (
            {"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
            "a picture in a message of the role 'assistant'",
        ),
        ({"role": "assistant", "tool_calls": [{"id": "c1"}]}, "an earlier call without an id"),
        (
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "[1]"}}]},
            "an earlier call without an id, a name, or arguments that are an object",
        ),
        ({"role": "tool", "tool_call_id": "c9", "content": "x"}, "a result of the call 'c9', which was never made"),
    ],
)
def test_what_cannot_be_handed_on_is_refused_by_name(message: dict[str, Any], what: str) -> None:
    with pytest.raises(CaseRefused, match=f"^X cannot be handed {re.escape(what)}"):
        read_history(asked(message), "X")


@pytest.mark.parametrize(
    ("messages", "what"),
    [
        ([{"role": "assistant", "content": "Hi."}], "a conversation that does not end with a message of the user"),
        ([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], "a conversation of several messages"),
        ([{"role": "system", "content": "a"}, {"role": "user", "content": "b"}], "a system message"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}], "a picture"),
    ],
)
def test_one_text_is_all_that_some_can_be_handed(messages: list[dict[str, Any]], what: str) -> None:
    with pytest.raises(CaseRefused, match=f"X cannot be handed {what}"):
        read_history(asked(*messages), "X").text_alone()


def test_the_address_of_a_picture_is_refused_where_a_picture_is_needed() -> None:
    with pytest.raises(CaseRefused, match="X cannot be handed the address of a picture"):
        read_history(asked(), "X").image_inside("https://shop.example/tea.png")
