"""Turns that another machine gives: in one go, and without an event loop that waits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from unittest.mock import patch

import pytest

from pytest_fcall.backends.dispatch.job import DispatchLimits, SystemClock
from pytest_fcall.backends.dispatch.queues import RequestQueues
from pytest_fcall.backends.dispatch.rate_limits import Admission, RateLimits
from tests.unit.backends.dispatch.far_ledger import FarLedger

_PATIENCE = 20


class Line:
    """Requests to models whose rates are counted far away."""

    def __init__(self, *, rpm: int | None = None, concurrency: int = 8) -> None:
        self.ledger = FarLedger()
        self.rates = RateLimits(DispatchLimits(rpm=rpm, shared=self.ledger), SystemClock())
        self.queues = RequestQueues(concurrency, self.rates, SystemClock())

    def enter(self, model: str, count: int) -> list[asyncio.Task[float]]:
        queue = self.queues.of(model)
        return [asyncio.create_task(self.queues.enter(queue, 0, retry=False)) for _ in range(count)]

    async def passed(self, tasks: list[asyncio.Task[float]], count: int) -> None:
        """Wait until so many have been let through."""
        async with asyncio.timeout(_PATIENCE):
            while sum(task.done() for task in tasks) < count:
                await asyncio.wait([task for task in tasks if not task.done()], return_when=asyncio.FIRST_COMPLETED)


def play(scene: Callable[[Line], Awaitable[None]], **how: int) -> None:
    line = Line(**how)
    try:
        asyncio.run(_played(scene, line))
    finally:
        line.ledger.near.set()
        line.ledger.close()


async def _played(scene: Callable[[Line], Awaitable[None]], line: Line) -> None:
    async with asyncio.timeout(_PATIENCE):
        await scene(line)
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


def test_turns_are_given_together_and_no_more_than_the_rate_has() -> None:
    async def scene(line: Line) -> None:
        tasks = line.enter("openai:exam", 7)
        await line.passed(tasks, 5)
        assert [task.done() for task in tasks] == [True] * 5 + [False] * 2
        assert line.ledger.changes <= 2
        assert line.queues.running == 5
        asked = line.queues.of("openai:exam").asked
        assert asked is not None
        await asked  # it ends although the ledger says nothing of the last request

    play(scene, rpm=5)


def test_the_event_loop_goes_on_while_the_ledger_is_asked() -> None:
    async def scene(line: Line) -> None:
        line.ledger.near.clear()
        (task,) = line.enter("openai:exam", 1)
        for _ in range(3):
            await asyncio.sleep(0)
        assert not task.done()
        line.ledger.near.set()
        await line.passed([task], 1)

    play(scene, rpm=5)


def test_models_that_are_asked_about_at_the_same_time_share_the_room() -> None:
    async def scene(line: Line) -> None:
        line.ledger.near.clear()
        one, two = line.enter("openai:one", 3), line.enter("openai:two", 3)
        await asyncio.sleep(0)
        line.ledger.near.set()
        await line.passed([*one, *two], 4)
        assert line.queues.running == 4
        line.queues.leave(line.queues.of("openai:one"))
        await line.passed([*one, *two], 5)
        assert line.queues.running == 4

    play(scene, rpm=100, concurrency=4)


def test_the_ledger_is_asked_for_no_more_requests_than_the_model_accepts() -> None:
    async def scene(line: Line) -> None:
        queue = line.queues.of("openai:exam")
        queue.concurrency.throttled(sent=1, now=2, running=6)
        tasks = line.enter("openai:exam", 5)
        await line.passed(tasks, 3)
        assert (line.queues.running, queue.running) == (3, 3)
        line.queues.leave(queue)
        await line.passed(tasks, 4)
        assert (line.queues.running, queue.running) == (3, 3)

    play(scene)


def test_who_gives_up_while_the_ledger_is_asked_leaves_no_gap() -> None:
    async def scene(line: Line) -> None:
        line.ledger.near.clear()
        tasks = line.enter("openai:exam", 3)
        await asyncio.sleep(0)
        tasks[0].cancel()
        line.ledger.near.set()
        await line.passed(tasks, 3)
        assert (line.queues.running, line.queues.of("openai:exam").running) == (2, 2)

    play(scene, concurrency=2)


def test_a_time_to_wait_holds_for_all_that_ask_after_it() -> None:
    async def scene(line: Line) -> None:
        line.rates.block("openai:exam", 500)
        (admission,) = await line.rates.take_all("openai:exam", [0, 0])
        assert 400 < admission.wait <= 500

    play(scene)


def test_who_is_told_to_wait_a_second_is_not_let_through_before() -> None:
    async def soon(model: str, tokens: Sequence[int]) -> Sequence[Admission]:
        return [Admission(1.0, 0.0)]

    async def scene(line: Line) -> None:
        with patch.object(line.rates, "take_all", soon):
            (task,) = line.enter("openai:exam", 1)
            await asyncio.sleep(0)
            asked = line.queues.of("openai:exam").asked
            assert asked is not None
            await asked
        assert not task.done()
        assert line.queues.running == 0

    play(scene)


def test_where_the_ledger_is_lost_this_process_counts_alone_and_says_so() -> None:
    async def scene(line: Line) -> None:
        line.ledger.lost = True
        tasks = line.enter("openai:exam", 3)
        await line.passed(tasks, 2)
        assert [task.done() for task in tasks] == [True, True, False]
        assert line.rates.warning == "rate limits apply to each process separately: the server is gone"

    play(scene, rpm=2)


def test_an_error_of_what_is_only_noted_is_told_too() -> None:
    async def scene(line: Line) -> None:
        line.ledger.lost = True
        line.rates.block("openai:exam", 500)
        while not line.rates.warning:
            await asyncio.sleep(0)
        assert "the server is gone" in line.rates.warning

    play(scene)


def test_a_ledger_that_is_lost_is_closed_once_for_all_that_ask_and_note(caplog: pytest.LogCaptureFixture) -> None:
    async def scene(line: Line) -> None:
        line.ledger.near.clear()
        for _ in range(2):
            line.rates.block("openai:exam", 500)
        line.ledger.lost = True
        line.ledger.near.set()
        assert [each.wait for each in await line.rates.take_all("openai:exam", [0])] == [0]
        with pytest.raises(RuntimeError, match="shutdown"):
            line.ledger.submit_read("rate of openai:exam")

    play(scene)
    assert caplog.records == []


def test_a_note_that_is_given_up_at_the_end_is_no_error(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_up: Future[None] = Future()
    given_up.cancel()
    given_up.set_running_or_notify_cancel()

    async def scene(line: Line) -> None:
        monkeypatch.setattr(line.ledger, "submit", lambda *_: given_up)
        line.rates.block("openai:exam", 500)
        assert line.rates.warning == ""

    play(scene)
    assert caplog.records == []


def test_the_ledger_is_told_nothing_where_nothing_is_counted_or_nothing_is_to_be_corrected() -> None:
    async def scene(line: Line) -> None:
        (admission,) = await line.rates.take_all("openai:exam", [0])
        assert line.rates.take("openai:exam", 0).wait == 0
        line.rates.settle("openai:exam", admission.at, 5)
        assert line.ledger.read("rate of openai:exam")[0] == ""
        counting = RateLimits(DispatchLimits(tpm=100, shared=line.ledger), SystemClock())
        changes = line.ledger.changes
        counting.settle("openai:exam", admission.at, 0)
        assert line.ledger.read("rate of openai:exam")[0] == ""
        assert line.ledger.changes == changes + 1

    play(scene)


def test_nobody_waits_for_the_ledger_to_note_something() -> None:
    async def scene(line: Line) -> None:
        line.ledger.near.clear()
        line.rates.block("openai:exam", 500)
        assert line.ledger.changes == 0
        line.ledger.near.set()
        (admission,) = await line.rates.take_all("openai:exam", [0])
        assert admission.wait > 400

    play(scene)


def test_the_ledger_is_closed_with_the_rates() -> None:
    async def scene(line: Line) -> None:
        line.rates.close()
        with pytest.raises(RuntimeError, match="shutdown"):
            line.ledger.submit_read("rate of openai:exam")

    play(scene)
