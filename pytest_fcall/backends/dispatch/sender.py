"""Sends a job when its turn comes, and retries it where that may help."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pytest_fcall.backends.dispatch.job import Clock, DispatchLimits, Job
from pytest_fcall.backends.dispatch.queues import ModelQueue, RequestQueues
from pytest_fcall.backends.dispatch.rate_limits import RateLimits
from pytest_fcall.core.backend import CaseRefused, ModelUnavailable, Unanswered
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request

FIRST_WAIT = 0.5
"""The longest wait before the first retry, in seconds. Each later one may be twice as long."""
LONGEST_WAIT = 60.0


class Retries:
    """The retries of one request, from its first attempt on."""

    def __init__(self, limits: DispatchLimits, now: float, answers: int, jitter: Callable[[], float]) -> None:
        self._retries = limits.retries
        self._deadline = now + limits.retry_seconds
        self._answers = answers
        self._jitter = jitter
        self._failures = 0
        self._attempts = 0

    def next_wait(
        self, error: Unanswered, retry_after: float, now: float, answers: int, *, again: bool, patient: bool
    ) -> float:
        """Return the seconds to wait before the next attempt: `retry_after` and a random time on top.

        Raises Unanswered after the last attempt, which there is none of while it is to be `patient`, or if `again` is
        False. A request that was rejected because of the rate, while the model accepted others, uses up time but no
        retry. `answers` counts the accepted requests.
        """
        self._attempts += 1
        self._failures += not (error.throttled and answers > self._answers)
        self._answers = answers
        wait = retry_after + min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (self._attempts - 1)) * self._jitter()
        if again and (patient or self._failures <= self._retries) and now + wait <= self._deadline:
            return wait
        if self._attempts == 1:
            raise error
        text = f"{error} ({self._attempts} attempts)"
        raise Unanswered(
            text,
            retry_after=error.retry_after,
            throttled=error.throttled,
            billable=error.billable,
            unreachable=error.unreachable,
        )


class Sender:
    """Answers jobs. Belongs to the event loop."""

    def __init__(
        self, limits: DispatchLimits, clock: Clock, jitter: Callable[[], float], on_unpriced: Callable[[Job], object]
    ) -> None:
        self.rate_limits = RateLimits(limits, clock)
        self.queues = RequestQueues(limits.concurrency, self.rate_limits, clock)
        self.retried = 0
        self._limits = limits
        self._clock = clock
        self._jitter = jitter
        self._on_unpriced = on_unpriced

    async def answer(self, job: Job) -> Reply:
        """Return the reply. Raises the backend's error if a retry cannot help or has not helped.

        Who waits for the reply of another process takes no turn meanwhile, and nothing from the rates.
        """
        if job.claim is None:
            return await self._answer(job)
        try:
            if (reply := await job.claim.reply()) is not None:
                return reply
            return await self._answer(job)
        except BaseException:  # cancellation, too
            job.claim.release()
            raise

    async def _answer(self, job: Job) -> Reply:
        queue = self.queues.of(job.model_id)
        tokens = self._estimated_tokens(job.request)
        retries: Retries | None = None
        while True:
            admitted = await self.queues.enter(queue, tokens, retry=retries is not None)
            sent = self._clock.monotonic()
            retries = retries or Retries(self._limits, sent, queue.outage.answers, self._jitter)
            try:
                reply = await self._send(job, queue)
            except Unanswered as error:
                if error.billable:
                    self._on_unpriced(job)
                wait = self._wait_after(error, queue, sent, retries)
            else:
                self.rate_limits.settle(queue.model, admitted, _used_tokens(reply, tokens) - tokens)
                return reply
            finally:
                self.queues.leave(queue)
            await self.queues.wait(queue, wait)
            self.retried += 1

    async def _send(self, job: Job, queue: ModelQueue) -> Reply:
        try:
            async with asyncio.timeout(self._limits.timeout) as timeout:
                reply = await job.backend.complete(job.request)
        except TimeoutError:
            if timeout.expired():
                raise Unanswered(f"no reply within {self._limits.timeout:g} s", billable=True) from None
            raise
        except ModelUnavailable as error:
            text = str(error)
            queue.stop(lambda: ModelUnavailable(text))
            raise
        except CaseRefused:
            queue.answered()
            raise
        queue.answered()
        return reply

    def _wait_after(self, error: Unanswered, queue: ModelQueue, sent: float, retries: Retries) -> float:
        """Return the seconds to wait before the next attempt; raise if there is none."""
        queue.check()  # it may have been stopped while this request was on its way
        now = self._clock.monotonic()
        queue.outage.failed(error, now)
        if error.throttled:
            queue.concurrency.throttled(sent, now, queue.running)
        retry_after = max(0.0, error.retry_after or 0.0)  # NaN is not larger
        if retry_after > (limit := self._limits.retry_seconds):
            text = f"{error} (Retry-After is {retry_after:.0f} s, more than the limit of {limit:g} s)"
            queue.stop(lambda: ModelUnavailable(text))
            queue.check()
        if retry_after:
            self.rate_limits.block(queue.model, retry_after)
        outage = queue.outage
        try:
            again = not (outage.has_begun or outage.lasts(now))
            patient = outage.may_pass(now)
            return retries.next_wait(error, retry_after, now, outage.answers, again=again, patient=patient)
        except Unanswered as lost:
            if reason := outage.lost(lost):
                queue.stop(lambda: ModelUnavailable(reason))
                queue.check()
            raise

    def _estimated_tokens(self, request: Request) -> int:
        if self._limits.tpm is None:
            return 0
        from pytest_fcall.backends.costs import likely_usage

        usage = likely_usage(request)
        return (usage.input_tokens or 0) + (usage.output_tokens or 0)


def _used_tokens(reply: Reply, estimated: int) -> int:
    if reply.usage is None or reply.usage.input_tokens is None:
        return estimated
    return reply.usage.input_tokens + (reply.usage.output_tokens or 0)
