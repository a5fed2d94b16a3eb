from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import closing
from types import MappingProxyType

import pytest

from pytest_fcall.backends.dispatch.job import DispatchLimits, Job, SystemClock
from pytest_fcall.backends.dispatch.sender import Sender
from pytest_fcall.backends.recordings.entry import Recording
from pytest_fcall.backends.store import ReplyStore, StoreError
from pytest_fcall.backends.store.address import StorePlace
from pytest_fcall.backends.store.request_claim import RequestClaim
from pytest_fcall.core import Json, Reply, Request, Unanswered, request_digest

REQUEST = Request(({"role": "user", "content": "Weather in Oslo?"},))
MODEL = "openai:exam"
DIGEST = request_digest(MODEL, REQUEST)


class Counting:
    """Answers, and counts how often it is asked."""

    settings: Mapping[str, Json] = MappingProxyType({"temperature": 0})
    reusable = True
    ahead = True

    def __init__(self, *answers: Reply | Exception) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def complete(self, request: Request) -> Reply:
        self.asked += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        """Nothing to give back."""


class Host:
    """A process that wants the reply."""

    def __init__(self, place: StorePlace, pause: Callable[[float], Awaitable[object]] | None = None) -> None:
        self.store = ReplyStore(place)
        self.claim = RequestClaim(DIGEST, self.store, 0.0, "gw0", pause or self._never)
        self.sender = Sender(DispatchLimits(retries=0, rpm=1), SystemClock(), lambda: 0.0, lambda _: None)

    async def _never(self, _: float) -> object:
        raise AssertionError("nobody has to wait")

    def ask(self, backend: Counting) -> Reply:
        return asyncio.run(self.sender.answer(Job(MODEL, backend, REQUEST, DIGEST, self.claim)))

    def keep(self, reply: Reply) -> None:
        self.store.put(MODEL, "w.fc.yaml", Recording("a", DIGEST, REQUEST, reply, "2026-11-21"))

    def close(self) -> None:
        self.store.close()


@pytest.fixture
def one(place: StorePlace) -> Iterator[Host]:
    with closing(Host(place)) as host:
        yield host


def test_one_of_two_processes_asks_and_the_other_waits_for_its_reply(one: Host, place: StorePlace) -> None:
    backend = Counting(Reply("first"), Reply("second"))
    waits: list[float] = []

    async def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 20:
            one.keep(reply)

    reply = one.ask(backend)
    with closing(Host(place, wait)) as two:
        assert two.ask(backend).text == "first"
        assert (backend.asked, len(waits), waits == sorted(waits), waits[-1]) == (1, 20, True, 0.5)
        # What another process has asked takes nothing from the rate.
        assert two.sender.rate_limits.take(MODEL, 0).wait == 0


def test_whoever_gets_no_reply_lets_others_ask(one: Host, place: StorePlace) -> None:
    backend = Counting(Unanswered("no answer came"), Reply("second"))
    with pytest.raises(Unanswered):
        one.ask(backend)
    with closing(Host(place)) as two:
        assert two.ask(backend).text == "second"


def test_a_reply_that_was_found_counts_even_if_the_claim_cannot_be_given_up(
    one: Host, place: StorePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(digest: str, owner: str) -> None:
        raise StoreError("the disk is full")

    one.keep(Reply("first"))
    with closing(Host(place)) as two:
        monkeypatch.setattr(two.store, "release", fail)
        assert two.ask(Counting()).text == "first"
