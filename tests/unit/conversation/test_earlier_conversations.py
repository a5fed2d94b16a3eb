from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from pytest_fcall.cases.case import plan_request
from pytest_fcall.conversation.dialogue import ConversationContext
from pytest_fcall.conversation.earlier_conversations import CarriedState, SharedEnvironment, hold_earlier_conversation
from pytest_fcall.conversation.execution.limits import EnvironmentFailed
from pytest_fcall.core import CallResult, Case, ConversationSettings, Json
from pytest_fcall.decoding.decoders import decode
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.turn_follower import TurnFollower
from tests.unit.conversation.conversations import Model, case_of

TEXT = "messages: [{role: system, content: 'You know <placeholder>.'}, {role: user, content: Hello.}]\nexpect: any_call"


@dataclass
class Notebook:
    """Writes down what is searched for."""

    torn: bool = False
    pages: list[Json] = field(default_factory=list)
    opened: int = 0
    closed: int = 0

    async def open(self) -> Notebook:
        self.opened += 1
        return self

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> CallResult:
        self.pages.append(arguments["to"])
        return CallResult("noted")

    async def state(self, names: Sequence[str] | None = None) -> CallResult:
        assert names == ["left", "told"]
        if self.torn:
            return CallResult(error="it was killed")
        return CallResult({"left": [*self.pages], "told": ", ".join(map(str, self.pages)) or "nothing"})

    async def close(self) -> None:
        self.closed += 1


def held(model: Model, folder: Path, notebook: Notebook, times: int = 1) -> CarriedState:
    case = replace(case_of(folder, TEXT), conversation=ConversationSettings("notes:make", max_steps=2))
    case = replace(case, turns=tuple(replace(turn, expect=None) for turn in case.turns))
    exam = MatchContext(case.tools, case.rules)
    context = ConversationContext(
        model.ask,
        lambda reply: decode(reply, case.tools),
        lambda _, known: TurnFollower(None, exam, known),
        notebook.open,
    )

    async def hold() -> CarriedState:
        left, shared = CarriedState(), SharedEnvironment()
        for _ in range(times):
            left = await hold_earlier_conversation(left, case, plan_request(case), "<placeholder>", context, shared)
        assert not notebook.closed
        await shared.close()
        return left

    return asyncio.run(hold())


def test_each_conversation_goes_on_with_what_the_one_before_it_left(tmp_path: Path) -> None:
    model = Model([[("search", {"to": "Oslo"})], "Done.", [("search", {"to": "Rome"})], "Done."])
    notebook = Notebook()
    left = held(model, tmp_path, notebook, times=2)
    assert (left.memory, left.text, len(left.transcripts)) == (["Oslo", "Rome"], "Oslo, Rome", 2)
    assert [request.messages[0]["content"] for request in model.asked[::2]] == ["You know nothing.", "You know Oslo."]
    assert (notebook.opened, notebook.closed) == (1, 1)


def test_one_that_is_cut_off_has_left_something(tmp_path: Path) -> None:
    left = held(Model([[("search", {"to": "Oslo"})]] * 9), tmp_path, Notebook())
    assert left.transcripts[0].turns[-1].end == "step_limit"
    assert left.memory == ["Oslo", "Oslo"]


def test_it_is_an_error_if_nobody_can_see_what_is_left(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailed, match="the environment's state cannot be read: it was killed"):
        held(Model([]), tmp_path, Notebook(torn=True))


def test_a_case_is_asked_on_what_was_left(tmp_path: Path) -> None:
    case: Case = case_of(tmp_path, TEXT)
    left = CarriedState((), ["Oslo"], "Oslo")
    assert left.set_up(case).conversation == ConversationSettings(setup={"left": ["Oslo"]})
    asked = left.fill_placeholder("<placeholder>", plan_request(case))
    assert [message["content"] for message in asked.messages] == ["You know Oslo.", "Hello."]
