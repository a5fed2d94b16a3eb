from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from pytest_fcall.cases import plan_request
from pytest_fcall.conversation.dialogue import Ground
from pytest_fcall.conversation.earlier import Left, hold_next
from pytest_fcall.conversation.execution.worker import WorldFailed
from pytest_fcall.core import Case, Executed, Json, World
from pytest_fcall.decoding import decode
from pytest_fcall.matching import Exam, Following
from tests.unit.conversation.holding import Model, case_of

TEXT = "messages: [{role: system, content: 'You know <slot>.'}, {role: user, content: Hello.}]\nexpect: any_call"


@dataclass
class Notebook:
    """Writes down what is searched for."""

    setup: Mapping[str, Json]
    pages: list[Json] = field(default_factory=list)
    torn: bool = False
    closed: bool = False

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> Executed:
        self.pages.append(arguments["to"])
        return Executed("noted")

    async def state(self, names: Sequence[str] | None = None) -> Executed:
        assert names == ["left", "told"]
        if self.torn:
            return Executed(error="it was killed")
        before = self.setup["left"]
        all_pages = [*(before if isinstance(before, list) else ()), *self.pages]
        return Executed({"left": all_pages, "told": ", ".join(map(str, all_pages)) or "nothing"})

    async def close(self) -> None:
        self.closed = True


def held(model: Model, folder: Path, before: Left, *, torn: bool = False) -> tuple[Left, Notebook]:
    case = before.to(replace(case_of(folder, TEXT), world=World("notes:make", max_steps=2)))
    case = replace(case, turns=tuple(replace(turn, expect=None) for turn in case.turns))
    notebook = Notebook((case.world or World()).setup, torn=torn)

    async def opened() -> Notebook:
        return notebook

    exam = Exam(case.tools, case.rules, {})
    ground = Ground(
        model.ask, lambda reply: decode(reply, case.tools), lambda _, known: Following(None, exam, known), opened
    )
    return asyncio.run(hold_next(before, case, plan_request(case), "<slot>", ground)), notebook


def test_each_conversation_goes_on_with_what_the_one_before_it_left(tmp_path: Path) -> None:
    model = Model([[("search", {"to": "Oslo"})], "Done.", [("search", {"to": "Rome"})], "Done."])
    first, notebook = held(model, tmp_path, Left())
    assert notebook.setup == {"left": None}
    assert (first.memory, first.text) == (["Oslo"], "Oslo")
    second, _ = held(model, tmp_path, first)
    assert (second.memory, len(second.transcripts)) == (["Oslo", "Rome"], 2)
    assert [request.messages[0]["content"] for request in model.asked[::2]] == ["You know nothing.", "You know Oslo."]


def test_one_that_is_cut_off_has_left_something(tmp_path: Path) -> None:
    left, _ = held(Model([[("search", {"to": "Oslo"})]] * 9), tmp_path, Left())
    assert left.transcripts[0].turns[-1].end == "step_limit"
    assert left.memory == ["Oslo", "Oslo"]


def test_it_is_an_error_if_nobody_can_see_what_is_left(tmp_path: Path) -> None:
    with pytest.raises(WorldFailed, match="nobody can see what it left: it was killed"):
        held(Model([]), tmp_path, Left(), torn=True)


def test_the_environment_is_closed_once_it_is_seen(tmp_path: Path) -> None:
    assert held(Model(["Hello."]), tmp_path, Left())[1].closed


def test_a_case_is_asked_on_what_was_left(tmp_path: Path) -> None:
    case: Case = case_of(tmp_path, TEXT)
    left = Left((), ["Oslo"], "Oslo")
    assert left.to(case).world == World(setup={"left": ["Oslo"]})
    asked = left.in_place_of("<slot>", plan_request(case))
    assert [message["content"] for message in asked.messages] == ["You know Oslo.", "Hello."]
