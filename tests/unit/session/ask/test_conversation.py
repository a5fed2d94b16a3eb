from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import cast

import pytest

from pytest_fcall.conversation.earlier_conversations import CarriedState
from pytest_fcall.core import (
    Case,
    EarlierCases,
    Json,
    Location,
    Model,
    Reply,
    Request,
    Step,
    Transcript,
    TranscriptTurn,
    Turn,
)
from pytest_fcall.core.reply import Calls
from pytest_fcall.session.ask.conversation import EarlierConversations, EarlierState
from pytest_fcall.session.ask.no_reply import NoReplies
from pytest_fcall.session.ask.types import Asker, Question, Source
from pytest_fcall.session.models import NamedModel

ASKED = Request(({"role": "user", "content": "Which?"},))


def earlier(said: str = "Green.") -> EarlierCases:
    turn = Turn(({"role": "user", "content": said},))
    return EarlierCases((Case("before", Location("", 1), (turn,)),), "<slot>")


def question(nodeid: str = "one", model: str = "m", **settings: Json) -> Question:
    source = Source(NamedModel(Model("openai", model), "fixture", live=True), None)
    asked = Request(ASKED.messages, settings=settings)
    return Question.of(source, asked, Asker(Path("a.fc.yaml"), nodeid, nodeid, nodeid))


@dataclass
class Holding:
    """Holds one conversation, and counts."""

    fails: BaseException | None = None
    times: int = 0
    state: CarriedState = field(default_factory=lambda: CarriedState((_transcript("Noted."),), ["green"], "green"))

    async def __call__(self) -> CarriedState:
        self.times += 1
        if self.fails:
            raise self.fails
        return self.state


def _transcript(said: str) -> Transcript:
    return Transcript((TranscriptTurn((Step(ASKED, Reply(said), Calls()),), "answered"),))


@dataclass
class Lacks:
    """Notes who lacks what somebody else does."""

    likewise_of: list[tuple[str, str]] = field(default_factory=list)

    def copy_reason(self, nodeid: str, question: Question) -> None:
        self.likewise_of.append((nodeid, question.asker.nodeid))


def conversations(lacks: Lacks | None = None) -> EarlierConversations:
    return EarlierConversations(cast("NoReplies", lacks or Lacks()))


def test_they_are_held_once_and_counted_for_the_first() -> None:
    held, holding = conversations(), Holding()

    async def both() -> list[EarlierState]:
        return [await held.of(earlier(), question(name), holding) for name in ("one", "other")]

    first, second = asyncio.run(both())
    assert holding.times == 1
    assert first.state is second.state
    assert [reply.text for reply in first.replies] == ["Noted."]
    assert not second.replies


@pytest.mark.parametrize(
    ("before", "asked"),
    [(earlier("Black."), question()), (earlier(), question(model="n")), (earlier(), question(temperature=1))],
)
def test_others_are_held_for_themselves(before: EarlierCases, asked: Question) -> None:
    held, holding = conversations(), Holding()

    async def both() -> None:
        await held.of(earlier(), question(), holding)
        await held.of(before, asked, holding)

    asyncio.run(both())
    assert holding.times == 2


def test_a_failure_is_that_of_all_who_wait() -> None:
    lacks = Lacks()
    held, holding = conversations(lacks), Holding(pytest.fail.Exception("no server"))
    for name in ("one", "other"):
        with pytest.raises(pytest.fail.Exception, match="no server"):
            asyncio.run(held.of(earlier(), question(name), holding))
    assert holding.times == 1
    assert lacks.likewise_of == [("one", "other")]


def test_who_waits_in_another_thread_gets_them_too() -> None:
    held, begun, over = conversations(), Event(), Event()
    got: list[EarlierState] = []

    async def hold() -> CarriedState:
        begun.set()
        await asyncio.to_thread(over.wait)
        return CarriedState((), ["green"], "green")

    thread = _running(lambda: held.of(earlier(), question(), hold), got)
    begun.wait()
    other = _running(lambda: held.of(earlier(), question("other"), hold), got)
    over.set()
    for each in (thread, other):
        each.join()
    assert [before.state.memory for before in got] == [["green"], ["green"]]


def _running(work: Callable[[], Awaitable[EarlierState]], got: list[EarlierState]) -> Thread:
    async def run() -> None:
        got.append(await work())

    thread = Thread(target=lambda: asyncio.run(run()))
    thread.start()
    return thread
