"""Sends a job when its turn comes, and retries where that may help."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pytest_fcall.backends.dispatch.job import Clock, Job, Limits
from pytest_fcall.backends.dispatch.queues import ModelQueue, RequestQueues
from pytest_fcall.backends.dispatch.rate_limits import RateLimits
from pytest_fcall.core import CaseRefused, ModelUnavailable, Reply, Request, Unanswered

FIRST = 0.5
"""Seconds that the first wait takes at most; each later one at most twice as long."""

LONGEST = 60.0


class Retries:
    """The patience with one request, from its first try on."""

    def __init__(self, limits: Limits, now: float, answers: int, jitter: Callable[[], float]) -> None:
        self._retries = limits.retries
        self._deadline = now + limits.budget
        self._answers = answers
        self._jitter = jitter
        self._failures = 0
        self._asked = 0

    def wait(self, error: Unanswered, told: float, now: float, answers: int, *, again: bool) -> float:
        """Return the seconds to wait before asking again: those told by the server, and a random while on top.

        Raises `Unanswered` where it was the last try, as it always is without `again`. A request that was turned
        away while others were taken has done nothing wrong: that uses up time, but no retry. `answers` counts those
        that were taken so far.
        """
        self._asked += 1
        self._failures += not (error.throttled and answers > self._answers)
        self._answers = answers
        ceiling = min(LONGEST, FIRST * 2.0 ** (self._asked - 1))
        wait = told + ceiling * self._jitter()
        if not again or self._failures > self._retries or now + wait > self._deadline:
            raise self._spent(error)
        return wait

    def _spent(self, error: Unanswered) -> Unanswered:
        if self._asked == 1:
            return error
        text = f"{error} (asked {self._asked} times)"
        return Unanswered(text, retry_after=error.retry_after, throttled=error.throttled)


class Sender:
    """Answers jobs. Lives in the event loop."""

    def __init__(self, limits: Limits, clock: Clock, jitter: Callable[[], float]) -> None:
        self.ledger = RateLimits(limits, clock)
        self.gate = RequestQueues(limits.concurrency, self.ledger, clock)
        self.retried = 0
        self._limits = limits
        self._clock = clock
        self._jitter = jitter

    async def answer(self, job: Job) -> Reply:
        """Return the reply; raise what the back end raises, where asking again cannot help or has not helped."""
        lane = self.gate.lane(job.model_id)
        tokens = self._estimated(job.request)
        patience: Retries | None = None
        while True:
            taken = await self.gate.enter(lane, tokens, again=patience is not None)
            sent = self._clock.monotonic()
            patience = patience or Retries(self._limits, sent, lane.answers, self._jitter)
            try:
                reply = await self._send(job, lane)
            except Unanswered as error:
                wait = self._wait(error, lane, sent, patience)
            else:
                self.ledger.settle(lane.model, taken, _used_tokens(reply, tokens) - tokens)
                return reply
            finally:
                self.gate.leave(lane)
            await lane.rest(wait, self._clock.call_later)
            self.retried += 1

    async def _send(self, job: Job, lane: ModelQueue) -> Reply:
        try:
            async with asyncio.timeout(self._limits.timeout) as patience:
                reply = await job.backend.complete(job.request)
        except TimeoutError:
            if patience.expired():
                raise Unanswered(f"no reply within {self._limits.timeout:g} s") from None
            raise
        except ModelUnavailable as error:
            text = str(error)
            lane.stop(lambda: ModelUnavailable(text))
            raise
        except CaseRefused:
            lane.answered()
            raise
        lane.answered()
        return reply

    def _wait(self, error: Unanswered, lane: ModelQueue, sent: float, patience: Retries) -> float:
        """Draw the consequences of a failure, and return how long to wait; raise where it is the last."""
        now = self._clock.monotonic()
        if error.throttled:
            lane.pace.throttled(sent, now, lane.running)
        told = error.retry_after if error.retry_after is not None and error.retry_after > 0 else 0.0
        if told > (budget := self._limits.budget):
            text = (
                f"{error} (it wants no request for {told:.0f} s, and no reply is waited for longer than {budget:g} s)"
            )
            lane.stop(lambda: Unanswered(text, retry_after=told, throttled=error.throttled))
            lane.check()
        if told:
            self.ledger.block(lane.model, told)
        try:
            return patience.wait(error, told, now, lane.answers, again=not lane.in_vain)
        except Unanswered:
            lane.gave_up |= not error.throttled
            raise

    def _estimated(self, request: Request) -> int:
        if self._limits.tpm is None:
            return 0
        from pytest_fcall.backends.costs.token_estimates import likely_usage

        usage = likely_usage(request)
        return (usage.input_tokens or 0) + (usage.output_tokens or 0)


def _used_tokens(reply: Reply, estimated: int) -> int:
    if reply.usage is None or reply.usage.input_tokens is None:
        return estimated
    return reply.usage.input_tokens + (reply.usage.output_tokens or 0)
