"""The queues of waiting requests, one a model: who may be sent next, and how many at a time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from pytest_fcall.backends.dispatch.job import Clock
from pytest_fcall.backends.dispatch.rate_limits import RateLimits

INCREASE = 0.25
"""What each answer adds. A hundred answers win back what one complaint took from fifty."""


class AdaptiveConcurrency:
    """Starts at the most that is allowed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._allowed = float(most)
        self._slowed = float("-inf")

    @property
    def allowed(self) -> int:
        """Requests that may be on their way; at least one."""
        return int(self._allowed)

    def answered(self) -> None:
        """The model took a request."""
        self._allowed = min(self._most, self._allowed + INCREASE)

    def throttled(self, sent: float, now: float, running: int) -> None:
        """The model complained about a request sent at the time `sent`, when `running` were on their way.

        Complaints about requests that were sent before the last slowing are the same complaint.
        """
        if sent >= self._slowed:
            self._allowed = max(1.0, min(self._allowed, running) / 2)
            self._slowed = now


@dataclass(slots=True, eq=False)
class Turn:
    """A request that waits until it may be sent."""

    tokens: int
    come: asyncio.Future[float]
    """The time at which it was let through, in seconds since 1970."""


class ModelQueue:
    """What the requests to one model share. Lives in the event loop."""

    def __init__(self, model: str, most: int) -> None:
        self.model = model
        self.pace = AdaptiveConcurrency(most)
        self.waiting: deque[Turn] = deque()
        self.running = 0
        self.answers = 0
        """Requests that the model took, whatever came of them."""
        self.alarmed = False
        """Whether nothing may be sent before a time for which an alarm is set."""
        self.gave_up = False
        """Whether a request was asked as often as may be, without an answer."""
        self._why_stopped: Callable[[], Exception] | None = None
        self._resting: set[asyncio.Future[None]] = set()

    @property
    def may_send(self) -> bool:
        """Whether one more may be sent, as far as the model's pace goes."""
        return not self.alarmed and self.running < self.pace.allowed

    @property
    def in_vain(self) -> bool:
        """Whether nobody seems to be there: then one try is enough for each request."""
        return self.gave_up and not self.answers

    def next(self) -> Turn | None:
        """Return the first request in the line that still wants to be sent."""
        while self.waiting and self.waiting[0].come.done():
            self.waiting.popleft()
        return self.waiting[0] if self.waiting else None

    def answered(self) -> None:
        """The model took a request."""
        self.answers += 1
        self.pace.answered()

    def stop(self, why: Callable[[], Exception]) -> None:
        """Fail all that waits, and all that will: `why` makes the error of each."""
        self._why_stopped = why
        for turn in self.waiting:
            if not turn.come.done():
                turn.come.set_exception(why())
        for over in self._resting:
            if not over.done():
                over.set_exception(why())

    def check(self) -> None:
        """Raise why nothing can be sent any more, if it is so."""
        if self._why_stopped:
            raise self._why_stopped()

    async def rest(self, seconds: float, call_later: Callable[[float, Callable[[], object]], object]) -> None:
        """Wait so long, or until the lane stops."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._resting.add(over)
        call_later(seconds, lambda: None if over.done() else over.set_result(None))
        try:
            await over
        finally:
            self._resting.discard(over)


class RequestQueues:
    """The one way out, for the requests of all lanes. Lives in the event loop.

    A lane that was there first goes first, and within a lane those that are asked for again, then those that came
    first.
    """

    def __init__(self, concurrency: int, ledger: RateLimits, clock: Clock) -> None:
        self.running = 0
        self._concurrency = concurrency
        self._ledger = ledger
        self._clock = clock
        self._lanes: dict[str, ModelQueue] = {}

    def lane(self, model: str) -> ModelQueue:
        """Return the lane of this model."""
        if model not in self._lanes:
            self._lanes[model] = ModelQueue(model, self._concurrency)
        return self._lanes[model]

    async def enter(self, lane: ModelQueue, tokens: int, *, again: bool) -> float:
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

    def leave(self, lane: ModelQueue) -> None:
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

    def _ring(self, lane: ModelQueue) -> None:
        lane.alarmed = False
        self._admit()
