from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from pytest_fcall.backends.recordings.entry import Recording
from pytest_fcall.backends.store import ReplyStore, StoreError
from pytest_fcall.backends.store.claiming_backend import ClaimingBackend
from pytest_fcall.core import Backend, Json, Reply, Request, Unanswered, request_digest

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


def claimed(backend: Backend, folder: Path, owner: str, pause: object = None) -> ClaimingBackend:
    async def never(_: float) -> object:
        raise AssertionError("nobody has to wait")

    waits = pause if callable(pause) else never
    return ClaimingBackend(backend, DIGEST, ReplyStore(folder / "replies.db"), 0.0, owner, waits)


def keep(worker: ClaimingBackend, reply: Reply) -> None:
    worker.store.put(MODEL, "w.fc.yaml", Recording("a", DIGEST, REQUEST, reply, "2026-11-21"))


def test_one_of_two_processes_asks_and_the_other_waits_for_its_reply(tmp_path: Path) -> None:
    backend = Counting(Reply("first"), Reply("second"))
    one = claimed(backend, tmp_path, "gw0")
    waits: list[float] = []

    def wait(seconds: float) -> Awaitable[object]:
        waits.append(seconds)
        keep(one, reply)
        return asyncio.sleep(0)

    two = claimed(backend, tmp_path, "gw1", wait)
    reply = asyncio.run(one.complete(REQUEST))
    assert asyncio.run(two.complete(REQUEST)).text == "first"
    assert (backend.asked, len(waits)) == (1, 1)


def test_whoever_gets_no_reply_lets_others_ask(tmp_path: Path) -> None:
    backend = Counting(Unanswered("no answer came"), Reply("second"))
    with pytest.raises(Unanswered):
        asyncio.run(claimed(backend, tmp_path, "gw0").complete(REQUEST))
    assert asyncio.run(claimed(backend, tmp_path, "gw1").complete(REQUEST)).text == "second"


def test_a_reply_that_was_found_counts_even_if_the_claim_cannot_be_given_up(tmp_path: Path) -> None:
    class Full(ReplyStore):
        def release(self, digest: str, owner: str) -> None:
            raise StoreError("the disk is full")

    keep(claimed(Counting(), tmp_path, "gw0"), Reply("first"))
    worker = replace(claimed(Counting(), tmp_path, "gw1"), store=Full(tmp_path / "replies.db"))
    assert asyncio.run(worker.complete(REQUEST)).text == "first"


def test_all_else_is_that_of_the_back_end(tmp_path: Path) -> None:
    worker = claimed(Counting(), tmp_path, "gw0")
    assert (worker.settings, worker.reusable, worker.ahead, worker.changes(REQUEST)) == (
        {"temperature": 0},
        True,
        True,
        (),
    )
    asyncio.run(worker.close())
