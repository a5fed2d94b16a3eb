"""One request after another: waits for its turn, sends it, and asks again where that may help."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pytest_fcall.backends.dispatch.clock import Clock
from pytest_fcall.backends.dispatch.gate import Gate
from pytest_fcall.backends.dispatch.job import Job
from pytest_fcall.backends.dispatch.lane import Lane
from pytest_fcall.backends.dispatch.ledger import Ledger
from pytest_fcall.backends.dispatch.limits import Limits
from pytest_fcall.backends.dispatch.patience import Patience
from pytest_fcall.core import CaseRefused, ModelUnavailable, Reply, Request, Unanswered


class Asking:
    """Answers jobs. Lives in the event loop."""

    def __init__(self, limits: Limits, clock: Clock, jitter: Callable[[], float]) -> None:
        self.ledger = Ledger(limits, clock)
        self.gate = Gate(limits.concurrency, self.ledger, clock)
        self.retried = 0
        self._limits = limits
        self._clock = clock
        self._jitter = jitter

    async def answer(self, job: Job) -> Reply:
        """Return the reply; raise what the back end raises, where asking again cannot help or has not helped."""
        lane = self.gate.lane(job.model_id)
        tokens = self._estimated(job.request)
        patience: Patience | None = None
        while True:
            taken = await self.gate.enter(lane, tokens, again=patience is not None)
            sent = self._clock.monotonic()
            patience = patience or Patience(self._limits, sent, lane.answers, self._jitter)
            try:
                reply = await self._send(job, lane)
            except Unanswered as error:
                wait = self._wait(error, lane, sent, patience)
            else:
                self.ledger.settle(lane.model, taken, _used(reply, tokens) - tokens)
                return reply
            finally:
                self.gate.leave(lane)
            await lane.rest(wait, self._clock.call_later)
            self.retried += 1

    async def _send(self, job: Job, lane: Lane) -> Reply:
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

    def _wait(self, error: Unanswered, lane: Lane, sent: float, patience: Patience) -> float:
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
        from pytest_fcall.backends.tokens import likely_usage

        usage = likely_usage(request)
        return (usage.input_tokens or 0) + (usage.output_tokens or 0)


def _used(reply: Reply, estimated: int) -> int:
    if reply.usage is None or reply.usage.input_tokens is None:
        return estimated
    return reply.usage.input_tokens + (reply.usage.output_tokens or 0)
