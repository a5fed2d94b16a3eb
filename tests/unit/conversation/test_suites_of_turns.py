"""What suites ask of a conversation, and no case file can say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcall.core import ConversationSettings, Reply
from tests.unit.conversation.conversations import MemoryStore, Model, case_of, held

TWO_TURNS = "turns: [{user: Look., expect: any_call}, {user: And now?, answer: {$contains: e}}]"


def test_tools_that_a_turn_offers_are_offered_from_there_on(tmp_path: Path) -> None:
    case = case_of(tmp_path, TWO_TURNS)
    first, second = case.turns
    search, book, _ = case.tools
    case = replace(case, turns=(replace(first, tools=(search,)), replace(second, tools=(search, book)), second))
    model = Model([[("search", {"to": "Oslo"})]])
    held(case, model, MemoryStore())
    assert [len(request.tools) for request in model.asked] == [1, 1, 2, 2]


@pytest.mark.parametrize(
    "said", [Reply("[search(", malformed="It breaks off."), Reply("sear", finish="length"), Reply(refusal="No.")]
)
def test_a_reply_that_cannot_be_read_may_end_its_turn_alone(tmp_path: Path, said: Reply) -> None:
    case = replace(case_of(tmp_path, TWO_TURNS), conversation=ConversationSettings(unreadable="answers"))
    case = replace(case, turns=tuple(replace(turn, expect=None) for turn in case.turns))
    model = Model([said, "Here."])
    transcript, _ = held(case, model)
    assert [turn.end for turn in transcript.turns] == ["answered", "answered"]
    assert model.told[1] == {"role": "assistant", "content": said.text}


def test_a_model_that_reads_of_its_tools_reads_of_their_results_too(tmp_path: Path) -> None:
    case = replace(
        case_of(tmp_path, "prompt: Look.\nexpect: any_call\nstubs: {search: it's full}"), tools_in_messages=True
    )
    said = Reply("search(to='Oslo')", decoder="python")
    model = Model([said])
    held(case, model)
    assert model.asked[0].tools == ()
    assert model.told[1:] == (
        {"role": "assistant", "content": said.text},
        {
            "role": "user",
            "content": """[{'role': 'tool', 'name': "search(to='Oslo')", 'content': "it's full"}]""",
        },
    )
