from __future__ import annotations

import asyncio

import pytest

from pytest_fcall.backends.dispatch import Limits
from pytest_fcall.backends.dispatch.job import SystemClock
from pytest_fcall.backends.dispatch.queues import ModelQueue, RequestQueues
from pytest_fcall.backends.dispatch.rate_limits import RateLimits
from pytest_fcall.core import ModelUnavailable


def one_wide() -> tuple[RequestQueues, ModelQueue]:
    gate = RequestQueues(1, RateLimits(Limits(), SystemClock()), SystemClock())
    return gate, gate.lane("openai:exam")


async def waiting(gate: RequestQueues, lane: ModelQueue) -> asyncio.Task[float]:
    """Somebody in the line."""
    task = asyncio.create_task(gate.enter(lane, 0, again=False))
    await asyncio.sleep(0)
    return task


def test_who_gives_up_while_waiting_takes_nobodys_place() -> None:
    async def scene() -> None:
        gate, lane = one_wide()
        await gate.enter(lane, 0, again=False)
        second, third = await waiting(gate, lane), await waiting(gate, lane)
        second.cancel()
        gate.leave(lane)
        await third
        assert (gate.running, lane.running) == (1, 1)

    asyncio.run(scene())


def test_who_is_let_through_and_given_up_in_the_same_moment_makes_room_again() -> None:
    async def scene() -> None:
        gate, lane = one_wide()
        await gate.enter(lane, 0, again=False)
        second, third = await waiting(gate, lane), await waiting(gate, lane)
        gate.leave(lane)
        second.cancel()
        await third
        assert second.cancelled()
        assert (gate.running, lane.running) == (1, 1)

    asyncio.run(scene())


def test_who_is_given_up_when_the_lane_stops_had_no_room_to_make() -> None:
    async def scene() -> None:
        gate, lane = one_wide()
        await gate.enter(lane, 0, again=False)
        second = await waiting(gate, lane)
        lane.stop(lambda: ModelUnavailable("no quota"))
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        assert (gate.running, lane.running) == (1, 1)

    asyncio.run(scene())


def test_who_waits_when_the_lane_stops_is_told_why() -> None:
    async def scene() -> None:
        gate, lane = one_wide()
        await gate.enter(lane, 0, again=False)
        second = await waiting(gate, lane)
        lane.stop(lambda: ModelUnavailable("no quota"))
        with pytest.raises(ModelUnavailable, match="no quota"):
            await second
        with pytest.raises(ModelUnavailable, match="no quota"):
            await gate.enter(lane, 0, again=False)

    asyncio.run(scene())
