from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.dispatch.job import DispatchLimits, SystemClock
from pytest_fcall.backends.dispatch.queues import AdaptiveConcurrency, ModelQueue, RequestQueues
from pytest_fcall.backends.dispatch.rate_limits import RateLimits
from pytest_fcall.core import ModelUnavailable
from tests.unit.backends.dispatch.support import gone


def one_wide() -> tuple[RequestQueues, ModelQueue]:
    queues = RequestQueues(1, RateLimits(DispatchLimits(), SystemClock()), SystemClock())
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


def test_what_waits_for_a_pause_is_let_go_when_the_queue_stops_and_the_clock_that_rings_later_meets_nobody() -> None:
    async def scene() -> None:
        _, queue = one_wide()
        rings: list[Callable[[], object]] = []
        pause = asyncio.create_task(queue.wait(5, lambda _, ring: rings.append(ring)))
        await asyncio.sleep(0)
        queue.stop(lambda: ModelUnavailable("no quota"))
        with pytest.raises(ModelUnavailable, match="no quota"):
            await pause
        rings[0]()

    asyncio.run(scene())


def test_while_nobody_can_be_reached_others_wait_for_those_that_pause_until_all_of_these_have_come_back() -> None:
    async def scene() -> None:
        queues, queue = one_wide()
        await queues.enter(queue, 0, retry=False)
        rings: list[Callable[[], object]] = []
        pause = asyncio.create_task(queue.wait(5, lambda _, ring: rings.append(ring)))
        first = await waiting(queues, queue)
        queue.next()
        turn = queue.waiting[0]
        assert queue.next() is turn
        queue.outage.failed(gone(), 0)
        assert queue.next() is None
        turn.retry = True
        assert queue.next() is turn
        turn.retry = False
        rings[0]()
        await pause
        assert queue.next() is turn
        first.cancel()

    asyncio.run(scene())


def test_who_gives_up_a_pause_makes_way_for_those_that_waited_for_its_end() -> None:
    async def scene() -> None:
        queues, queue = one_wide()
        queue.outage.failed(gone(), 0)
        pause = asyncio.create_task(queues.wait(queue, 3600))
        await asyncio.sleep(0)
        other = await waiting(queues, queue)
        assert queue.running == 0
        pause.cancel()
        with pytest.raises(asyncio.CancelledError):
            await pause
        assert queue.running == 1
        await other

    asyncio.run(scene())


def test_no_more_requests_are_let_through_than_the_model_accepts_although_there_is_room_for_others() -> None:
    async def scene() -> None:
        queues = RequestQueues(8, RateLimits(DispatchLimits(), SystemClock()), SystemClock())
        queue, other = queues.of("openai:exam"), queues.of("openai:other")
        queue.concurrency.throttled(sent=1, now=2, running=6)
        entered = [await waiting(queues, queue) for _ in range(5)]
        assert [task.done() for task in entered] == [True] * 3 + [False] * 2
        assert (queue.running, queues.running) == (3, 3)
        assert (await waiting(queues, other)).done() or other.running == 1
        queues.leave(queue)
        await entered[3]
        assert (queue.running, queues.running) == (3, 4)
        entered[4].cancel()

    asyncio.run(scene())


def test_a_hundred_answers_win_back_what_one_complaint_took_from_fifty_and_fewer_do_not() -> None:
    concurrency = AdaptiveConcurrency(50)
    concurrency.throttled(sent=1, now=2, running=50)
    for _ in range(99):
        concurrency.answered()
    assert concurrency.allowed == 49
    concurrency.answered()
    assert concurrency.allowed == 50


def test_complaints_leave_one_request_at_a_time_and_a_few_answers_after_them_no_more() -> None:
    concurrency = AdaptiveConcurrency(2)
    for now in range(5):
        concurrency.throttled(sent=now, now=now, running=1)
    for _ in range(2):
        concurrency.answered()
    assert concurrency.allowed == 1


def test_while_nobody_can_be_reached_one_request_alone_is_to_be_sent_and_else_as_many_as_there_is_room_for() -> None:
    async def scene() -> None:
        queues, queue = one_wide()
        await queues.enter(queue, 0, retry=False)
        given_up, *others = [await waiting(queues, queue) for _ in range(5)]
        given_up.cancel()
        await asyncio.wait([given_up])
        _, _, *rest = queue.waiting
        assert queue.next_ones(9) == rest
        assert queue.next_ones(3) == rest[:3]
        queue.outage.failed(gone(), 0)
        assert queue.next_ones(3) == rest[:1]
        for each in others:
            each.cancel()
        await asyncio.wait(others)
        assert queue.next_ones(3) == []

    asyncio.run(scene())


def test_the_clock_of_this_machine_calls_back_in_the_running_loop() -> None:
    async def scene() -> None:
        called = asyncio.Event()
        SystemClock().call_later(0, called.set)
        async with asyncio.timeout(10):
            await called.wait()

    asyncio.run(scene())


@given(st.integers(1, 100), st.lists(st.one_of(st.none(), st.integers(1, 100))))
def test_at_least_one_and_at_most_all_may_be_on_their_way(most: int, events: list[int | None]) -> None:
    concurrency = AdaptiveConcurrency(most)
    for now, running in enumerate(events):
        if running is None:
            concurrency.answered()
        else:
            concurrency.throttled(sent=now, now=now, running=running)
        assert 1 <= concurrency.allowed <= most
