from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.dispatch.job import Limits, SystemClock
from pytest_fcall.backends.dispatch.queues import AdaptiveConcurrency, ModelQueue, RequestQueues
from pytest_fcall.backends.dispatch.rate_limits import RateLimits
from pytest_fcall.core import ModelUnavailable


def one_wide() -> tuple[RequestQueues, ModelQueue]:
    queues = RequestQueues(1, RateLimits(Limits(), SystemClock()), SystemClock())
    return queues, queues.of("openai:exam")


async def waiting(queues: RequestQueues, queue: ModelQueue) -> asyncio.Task[float]:
    """Somebody in the line."""
    task = asyncio.create_task(queues.enter(queue, 0, retry=False))
    await asyncio.sleep(0)
    return task


def test_who_gives_up_while_waiting_takes_nobodys_place() -> None:
    async def scene() -> None:
        queues, queue = one_wide()
        await queues.enter(queue, 0, retry=False)
        second, third = await waiting(queues, queue), await waiting(queues, queue)
        second.cancel()
        queues.leave(queue)
        await third
        assert (queues.running, queue.running) == (1, 1)

    asyncio.run(scene())


def test_who_is_let_through_and_given_up_in_the_same_moment_makes_room_again() -> None:
    async def scene() -> None:
        queues, queue = one_wide()
        await queues.enter(queue, 0, retry=False)
        second, third = await waiting(queues, queue), await waiting(queues, queue)
        queues.leave(queue)
        second.cancel()
        await third
        assert second.cancelled()
        assert (queues.running, queue.running) == (1, 1)

    asyncio.run(scene())


def test_who_is_given_up_when_the_queue_stops_had_no_room_to_make() -> None:
    async def scene() -> None:
        queues, queue = one_wide()
        await queues.enter(queue, 0, retry=False)
        second = await waiting(queues, queue)
        queue.stop(lambda: ModelUnavailable("no quota"))
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        assert (queues.running, queue.running) == (1, 1)

    asyncio.run(scene())


def test_who_waits_when_the_queue_stops_is_told_why() -> None:
    async def scene() -> None:
        queues, queue = one_wide()
        await queues.enter(queue, 0, retry=False)
        second = await waiting(queues, queue)
        queue.stop(lambda: ModelUnavailable("no quota"))
        with pytest.raises(ModelUnavailable, match="no quota"):
            await second
        with pytest.raises(ModelUnavailable, match="no quota"):
            await queues.enter(queue, 0, retry=False)

    asyncio.run(scene())


def test_a_complaint_halves_what_was_on_its_way() -> None:
    concurrency = AdaptiveConcurrency(64)
    concurrency.throttled(sent=1, now=2, running=40)
    assert concurrency.allowed == 20


def test_complaints_about_requests_sent_before_the_last_slowing_are_the_same_complaint() -> None:
    concurrency = AdaptiveConcurrency(64)
    for now in range(2, 30):
        concurrency.throttled(sent=1, now=now, running=64)
    assert concurrency.allowed == 32
    concurrency.throttled(sent=3, now=31, running=32)
    assert concurrency.allowed == 16


def test_answers_win_back_what_a_complaint_took() -> None:
    concurrency = AdaptiveConcurrency(64)
    concurrency.throttled(sent=1, now=2, running=64)
    for _ in range(128):
        concurrency.answered()
    assert concurrency.allowed == 64


def test_a_model_that_answers_may_be_sent_more_at_a_time_again() -> None:
    queue = ModelQueue("openai:exam", 8)
    queue.concurrency.throttled(sent=1, now=2, running=8)
    for _ in range(16):
        queue.answered()
    assert (queue.concurrency.allowed, queue.outage.answers) == (8, 16)


@given(st.integers(1, 100), st.lists(st.one_of(st.none(), st.integers(1, 100))))
def test_at_least_one_and_at_most_all_may_be_on_their_way(most: int, events: list[int | None]) -> None:
    concurrency = AdaptiveConcurrency(most)
    for now, running in enumerate(events):
        if running is None:
            concurrency.answered()
        else:
            concurrency.throttled(sent=now, now=now, running=running)
        assert 1 <= concurrency.allowed <= most
