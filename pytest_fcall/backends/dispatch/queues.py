"""The queues of waiting requests, one a model: which one may be sent next, and how many at a time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from pytest_fcall.backends.dispatch.job import Clock
from pytest_fcall.backends.dispatch.rate_limits import RateLimits
from pytest_fcall.core.backend import Unanswered

_INCREASE = 0.25
"""The gain from each answer. A hundred answers win back what one rejection took from fifty."""


class AdaptiveConcurrency:
    """The number of requests in flight that a model accepts: halved by rejections, raised again by answers."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._allowed = float(most)
        self._last_reduction = float("-inf")

    @property
    def allowed(self) -> int:
        """The number of requests that may be in flight; at least one."""
        return int(self._allowed)

    def answered(self) -> None:
        """Note that the model accepted a request."""
        self._allowed = min(self._most, self._allowed + _INCREASE)

    def throttled(self, sent: float, now: float, running: int) -> None:
        """Note that the model rejected a request, sent at the time `sent`, because of the rate, with `running` others.

        Rejections of requests that were sent before the last reduction do not count again.
        """
        if sent >= self._last_reduction:
            self._allowed = max(1.0, min(self._allowed, running) / 2)
            self._last_reduction = now


@dataclass(slots=True, eq=False)
class QueuedRequest:
    """A request that waits until it may be sent."""

    tokens: int
    admitted: asyncio.Future[float]
    """The time at which the request was admitted, for `RateLimits.settle`."""
    retry: bool
    """Whether it was sent before."""


class ModelQueue:
    """The waiting requests to one model, and what is known about the model. Belongs to the event loop."""

    def __init__(self, model: str, most: int) -> None:
        self.model = model
        self.concurrency = AdaptiveConcurrency(most)
        self.waiting: deque[QueuedRequest] = deque()
        self.running = 0
        self.outage = Outage()
        self.waits_for_alarm = False
        """Whether no request may be sent before an alarm that is set, or what another machine says."""
        self.asked: asyncio.Task[None] | None = None
        """The last requests to other machines, kept from the garbage collector."""
        self._stop_error: Callable[[], Exception] | None = None
        self._pauses: set[asyncio.Future[None]] = set()

    @property
    def may_send(self) -> bool:
        """Whether the model accepts one more request."""
        return not self.waits_for_alarm and self.running < self.concurrency.allowed

    def next(self) -> QueuedRequest | None:
        """Return the first waiting request that was not cancelled.

        While nobody can be reached, those that were sent before find out when that is over, and no others are sent.
        """
        while self.waiting and self.waiting[0].admitted.done():
            self.waiting.popleft()
        turn = self.waiting[0] if self.waiting else None
        waits_for_others = turn and not turn.retry and self.outage.is_unreachable and self._pauses
        return None if waits_for_others else turn

    def next_ones(self, most: int) -> list[QueuedRequest]:
        """The first waiting requests; while nobody can be reached, one alone finds out when that is over."""
        waiting = (turn for turn in self.waiting if not turn.admitted.done())
        return [*islice(waiting, 1 if self.outage.is_unreachable else most)]

    def answered(self) -> None:
        """Note that the model accepted a request."""
        self.outage.answered()
        self.concurrency.answered()

    def stop(self, make_error: Callable[[], Exception]) -> None:
        """Fail all waiting and all later requests, each with its own error."""
        self._stop_error = make_error
        futures: list[asyncio.Future[Any]] = [*(turn.admitted for turn in self.waiting), *self._pauses]
        for future in futures:
            if not future.done():
                future.set_exception(make_error())

    def check(self) -> None:
        """Raise the error with which the queue was stopped, if it was."""
        if self._stop_error:
            raise self._stop_error()

    async def wait(self, seconds: float, call_later: Callable[[float, Callable[[], object]], object]) -> None:
        """Wait so many seconds; raise the error if the queue is stopped meanwhile."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pauses.add(over)
        call_later(seconds, lambda: None if over.done() else over.set_result(None))
        try:
            await over
        finally:
            self._pauses.discard(over)


class RequestQueues:
    """The queues of all models. Belongs to the event loop.

    The model that came first goes first. Within a model retries go first, then the requests in their order.
    """

    def __init__(self, concurrency: int, rate_limits: RateLimits, clock: Clock) -> None:
        self.running = 0
        self._concurrency = concurrency
        self._rate_limits = rate_limits
        self._clock = clock
        self._queues: dict[str, ModelQueue] = {}

    def of(self, model: str) -> ModelQueue:
        """Return the queue of this model."""
        if model not in self._queues:
            self._queues[model] = ModelQueue(model, self._concurrency)
        return self._queues[model]

    async def enter(self, queue: ModelQueue, tokens: int, *, retry: bool) -> float:
        """Wait for the turn of a request, and return the time. Each `enter` needs a `leave`."""
        queue.check()
        turn = QueuedRequest(tokens, asyncio.get_running_loop().create_future(), retry)
        (queue.waiting.appendleft if retry else queue.waiting.append)(turn)
        self._admit()
        try:
            return await turn.admitted
        except asyncio.CancelledError:
            if not turn.admitted.cancelled() and turn.admitted.exception() is None:
                self.leave(queue)
            raise

    async def wait(self, queue: ModelQueue, seconds: float) -> None:
        """Wait so many seconds for the next attempt of a request; raise the error if the queue is stopped meanwhile."""
        try:
            await queue.wait(seconds, self._clock.call_later)
        except BaseException:  # cancellation, too
            self._admit()  # others may have waited for this request
            raise

    def leave(self, queue: ModelQueue) -> None:
        """Make room for the next request."""
        self._take_room(queue, -1)
        self._admit()

    def _admit(self) -> None:
        for queue in self._queues.values():
            while self.running < self._concurrency and queue.may_send and (turn := queue.next()):
                if self._rate_limits.are_remote:
                    self._ask_for(queue)
                    break
                admission = self._rate_limits.take(queue.model, turn.tokens)
                if admission.wait > 0:
                    self._set_alarm(queue, admission.wait)
                    break
                self._let(queue, turn, admission.at)

    def _ask_for(self, queue: ModelQueue) -> None:
        """Ask another machine whether the next requests may be sent, as many as there is room for."""
        room = min(self._concurrency - self.running, queue.concurrency.allowed - queue.running)
        turns = queue.next_ones(room)
        queue.waits_for_alarm = True
        self._take_room(queue, len(turns))  # no other model may have it meanwhile
        queue.asked = asyncio.get_running_loop().create_task(self._admit_together(queue, turns))

    async def _admit_together(self, queue: ModelQueue, turns: Sequence[QueuedRequest]) -> None:
        try:
            admissions = await self._rate_limits.take_all(queue.model, [turn.tokens for turn in turns])
        finally:
            self._take_room(queue, -len(turns))
            queue.waits_for_alarm = False
        for turn, admission in zip(turns, admissions, strict=False):  # there may be fewer admissions
            if admission.wait > 0:
                self._set_alarm(queue, admission.wait)
            elif not turn.admitted.done():  # else somebody has given it up, who had not come so far
                self._let(queue, turn, admission.at)
        self._admit()

    def _let(self, queue: ModelQueue, turn: QueuedRequest, at: float) -> None:
        turn.admitted.set_result(at)
        self._take_room(queue, 1)

    def _take_room(self, queue: ModelQueue, count: int) -> None:
        queue.running += count
        self.running += count

    def _set_alarm(self, queue: ModelQueue, seconds: float) -> None:
        queue.waits_for_alarm = True
        self._clock.call_later(seconds, partial(self._ring, queue))

    def _ring(self, queue: ModelQueue) -> None:
        queue.waits_for_alarm = False
        self._admit()


RETURN_SECONDS = 10.0
"""Seconds in which a server that is out of reach may come back, such as one that is started again."""
MOST_LOST = 20
"""Requests in a row that may be given up. Each was sent several times, so that chance and bad requests do not add up
to as many."""


class Outage:
    """The failures of requests to one model since its last answer. Belongs to the event loop."""

    def __init__(self) -> None:
        self.answers = 0
        """Requests that the model accepted, whatever the answer was."""
        self._lost = 0
        """Requests that were given up."""
        self._unreachable_since: float | None = None

    @property
    def has_begun(self) -> bool:
        """Whether a request was given up and none was ever answered. Then one attempt is enough for each request."""
        return bool(self._lost) and not self.answers

    @property
    def is_unreachable(self) -> bool:
        """Whether no connection was made since one was refused."""
        return self._unreachable_since is not None

    def answered(self) -> None:
        """Note that the model accepted a request."""
        self.answers += 1
        self._lost = 0
        self._unreachable_since = None

    def failed(self, error: Unanswered, now: float) -> None:
        """Note that an attempt has failed."""
        if not error.unreachable:
            self._unreachable_since = None
        elif self._unreachable_since is None:
            self._unreachable_since = now

    def may_pass(self, now: float) -> bool:
        """Whether a server that has answered before is out of reach for a short time only."""
        return self.answers > 0 and self.is_unreachable and not self.lasts(now)

    def lasts(self, now: float) -> bool:
        """Whether the server is out of reach for so long that no request is worth another attempt."""
        since = self._unreachable_since
        return since is not None and now - since >= RETURN_SECONDS

    def lost(self, error: Unanswered) -> str:
        """Note that a request was given up, and return why no other should be sent; empty if others may be."""
        if error.throttled:
            return ""
        self._lost += 1
        if error.unreachable:
            return str(error)
        return f"{self._lost} requests in a row got no answer; the last: {error}" if self._lost >= MOST_LOST else ""
