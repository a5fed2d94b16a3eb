"""Lets requests through, one by one, as fast as all limits allow."""

from __future__ import annotations

import asyncio
from functools import partial

from pytest_fcall.backends.dispatch.clock import Clock
from pytest_fcall.backends.dispatch.lane import Lane, Turn
from pytest_fcall.backends.dispatch.ledger import Ledger


class Gate:
    """The one way out, for the requests of all lanes. Lives in the event loop.

    A lane that was there first goes first, and within a lane those that are asked for again, then those that came
    first.
    """

    def __init__(self, concurrency: int, ledger: Ledger, clock: Clock) -> None:
        self.running = 0
        self._concurrency = concurrency
        self._ledger = ledger
        self._clock = clock
        self._lanes: dict[str, Lane] = {}

    def lane(self, model: str) -> Lane:
        """Return the lane of this model."""
        if model not in self._lanes:
            self._lanes[model] = Lane(model, self._concurrency)
        return self._lanes[model]

    async def enter(self, lane: Lane, tokens: int, *, again: bool) -> float:
        """Wait for the turn, and return the time at which it came. What entered must leave."""
        lane.check()
        turn = Turn(tokens, asyncio.get_running_loop().create_future())
        (lane.waiting.appendleft if again else lane.waiting.append)(turn)
        self._admit()
        try:
            return await turn.come
        except asyncio.CancelledError:
            if not turn.come.cancelled() and turn.come.exception() is None:
                self.leave(lane)
            raise

    def leave(self, lane: Lane) -> None:
        """Make room for the next."""
        lane.running -= 1
        self.running -= 1
        self._admit()

    def _admit(self) -> None:
        for lane in self._lanes.values():
            while self.running < self._concurrency and lane.may_send and (turn := lane.next()):
                now = self._clock.wall()
                if (wait := self._ledger.take(lane.model, turn.tokens)) > 0:
                    lane.alarmed = True
                    self._clock.call_later(wait, partial(self._ring, lane))
                    break
                turn.come.set_result(now)
                lane.running += 1
                self.running += 1

    def _ring(self, lane: Lane) -> None:
        lane.alarmed = False
        self._admit()
