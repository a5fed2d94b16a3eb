"""Requests and tokens a minute, and Retry-After, of all processes of a cluster together.

One place counts. A process has at most one question open there for each model, and questions are answered in turn, so
that all processes get equal shares.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from pytest_fcall.backends.costs.token_estimates import likely_usage
from pytest_fcall.backends.dispatch.rate_limits import RateWindow
from pytest_fcall.backends.wrapper import BackendWrapper
from pytest_fcall.core import Reply, Request, Unanswered

_TURN: Final = 16
"""The most requests that a process may send when it is its turn, where nothing but Retry-After limits them; else one,
so that shares are equal."""
_RECHECK: Final = 1.0
"""Seconds after which a wait is looked at anew: tokens may have been given back meanwhile."""

Admission = tuple[int, float]
"""How many requests may be sent, and the time at which they were counted."""


class SharedWindows:
    """Counts for all processes. Belongs to the event loop of the one that has it."""

    def __init__(
        self,
        rpm: int | None,
        tpm: int | None,
        wall: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._rpm = rpm
        self._tpm = tpm
        self._is_limited = rpm is not None or tpm is not None
        self._wall = wall
        self._sleep = sleep
        self._windows: defaultdict[str, RateWindow] = defaultdict(RateWindow)
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def admit(self, model: str, tokens: Sequence[int]) -> Admission:
        """Wait until the first of some requests may be sent, and say how many of them may."""
        window = self._windows[model]
        async with self._turns[model]:
            while (wait := window.take(self._wall(), tokens[0], self._rpm, self._tpm)) > 0:
                await self._sleep(min(wait, _RECHECK))
            now, admitted = self._wall(), 1
            for each in () if self._is_limited else tokens[1:_TURN]:
                if window.take(now, each, self._rpm, self._tpm) > 0:
                    break
                admitted += 1
            return admitted, now

    def block(self, model: str, seconds: float) -> None:
        """Let nobody send a request to this model for so many seconds."""
        self._windows[model].block(self._wall() + seconds)

    def settle(self, model: str, taken: float, tokens: int) -> None:
        """Correct the estimated tokens of a request that was counted at the time `taken` by this difference."""
        self._windows[model].settle(taken, tokens)


class Counter(Protocol):
    """The place that counts, as a process sees it."""

    async def admit(self, model: str, tokens: Sequence[int]) -> Admission:
        """See `SharedWindows.admit`."""
        ...

    def block(self, model: str, seconds: float) -> None:
        """See `SharedWindows.block`."""
        ...

    def settle_tokens(self, model: str, taken: float, tokens: int) -> None:
        """See `SharedWindows.settle`."""
        ...


class Gate:
    """The requests of one process to one model that wait until they may be sent. Belongs to the event loop."""

    def __init__(self, model: str, counter: Counter, *, counts_tokens: bool) -> None:
        self.model = model
        self.counter = counter
        self.counts_tokens = counts_tokens
        self._waiting: deque[tuple[int, asyncio.Future[float]]] = deque()
        self._asking: asyncio.Task[None] | None = None

    async def enter(self, tokens: int) -> float:
        """Wait until a request may be sent, and return the time at which it was counted."""
        admitted: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._waiting.append((tokens, admitted))
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        return await admitted

    async def _ask(self) -> None:
        while self._waiting:
            try:
                number, taken = await self.counter.admit(self.model, [tokens for tokens, _ in self._waiting][:_TURN])
            except Exception as error:  # the place is gone, and whoever waits must hear of it
                number, taken = len(self._waiting), 0.0
                self._let_in(number, error=error)
                return
            self._let_in(number, taken)

    def _let_in(self, number: int, taken: float = 0.0, error: Exception | None = None) -> None:
        for _ in range(number):
            _, admitted = self._waiting.popleft()
            if admitted.done():  # cancelled meanwhile; what was counted for it stays counted
                continue
            if error:
                admitted.set_exception(error)
            else:
                admitted.set_result(taken)


@dataclass(frozen=True, slots=True)
class SharedLimitsBackend(BackendWrapper):
    """Sends a request when the whole cluster may send one more."""

    gate: Gate

    async def complete(self, request: Request) -> Reply:
        """Answer `request` within the limits, and tell the others of a pause that the server demands."""
        gate, estimated = self.gate, 0
        if gate.counts_tokens:
            usage = likely_usage(request)
            estimated = (usage.input_tokens or 0) + (usage.output_tokens or 0)
        taken = await gate.enter(estimated)
        try:
            reply = await self.backend.complete(request)
        except Unanswered as error:
            if error.retry_after and error.retry_after > 0:
                gate.counter.block(gate.model, error.retry_after)
            raise
        if gate.counts_tokens and reply.usage and reply.usage.input_tokens is not None:
            used = reply.usage.input_tokens + (reply.usage.output_tokens or 0)
            gate.counter.settle_tokens(gate.model, taken, used - estimated)
        return reply
