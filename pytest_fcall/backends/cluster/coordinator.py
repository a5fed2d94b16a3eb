"""The state that all processes of a cluster share: limits, the budget, and the log of a round."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from pytest_fcall.backends.budget import Budget
from pytest_fcall.backends.costs import likely_usage
from pytest_fcall.backends.dispatch.rate_limits import RateWindow
from pytest_fcall.backends.wrapper import BackendWrapper
from pytest_fcall.core.backend import Unanswered
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request


class Coordinator:
    """One for a cluster, as an actor on the node of the one who records. Its event loop is Ray's."""

    def __init__(self, rpm: int | None, tpm: int | None, max_cost: float | None) -> None:
        self._windows = SharedWindows(rpm, tpm)
        self._budget = None if max_cost is None else Budget(max_cost)
        self._log = RoundLog()

    async def new_round(self) -> None:
        """Forget the requests of the round before."""
        self._log = RoundLog()

    async def admit(self, model: str, tokens: Sequence[int]) -> Admission:
        """See `SharedWindows.admit`."""
        return await self._windows.admit(model, tokens)

    async def block(self, model: str, seconds: float) -> None:
        """See `SharedWindows.block`."""
        self._windows.block(model, seconds)

    async def settle_tokens(self, model: str, taken: float, tokens: int) -> None:
        """See `SharedWindows.settle`."""
        self._windows.settle(model, taken, tokens)

    async def hold(self, dollars: float, purpose: str) -> int | None:
        """See `Budget.hold`."""
        return self._budget.hold(dollars, purpose) if self._budget else 0

    async def settle(self, number: int, dollars: float | None) -> None:
        """See `Budget.settle`."""
        if self._budget:
            self._budget.settle(number, dollars)

    async def spent(self) -> float:
        """See `Budget.spent`."""
        return self._budget.spent if self._budget else 0.0

    async def deaths(self, digests: Sequence[str]) -> dict[str, int]:
        """See `RoundLog.deaths`."""
        return self._log.deaths(digests)

    async def begin(self, digests: Sequence[str]) -> None:
        """See `RoundLog.begin`."""
        self._log.begin(digests)

    async def add_part(self, name: str, digests: Sequence[str]) -> None:
        """See `RoundLog.add_part`."""
        self._log.add_part(name, digests)

    async def parts_after(self, number: int) -> list[str]:
        """See `RoundLog.parts_after`."""
        return self._log.parts_after(number)


class CoordinatorClient:
    """The coordinator as the other processes see it, by a handle of Ray's."""

    def __init__(self, handle: Any) -> None:
        self._actor = handle

    async def admit(self, model: str, tokens: Sequence[int]) -> Admission:
        """See `SharedWindows.admit`."""
        admission: Admission = await self._actor.admit.remote(model, tokens)
        return admission

    def block(self, model: str, seconds: float) -> None:
        """See `SharedWindows.block`."""
        self._actor.block.remote(model, seconds)

    def settle_tokens(self, model: str, taken: float, tokens: int) -> None:
        """See `SharedWindows.settle`."""
        self._actor.settle_tokens.remote(model, taken, tokens)

    async def hold_soon(self, dollars: float, purpose: str) -> int | None:
        """See `Budget.hold`."""
        number: int | None = await self._actor.hold.remote(dollars, purpose)
        return number

    def settle_soon(self, number: int, dollars: float | None) -> None:
        """See `Budget.settle`."""
        self._actor.settle.remote(number, dollars)

    @property
    def spent(self) -> float:
        """See `Budget.spent`."""
        return float(_result(self._actor.spent.remote()))

    def new_round(self) -> None:
        """Forget the requests of the round before."""
        _result(self._actor.new_round.remote())

    def deaths(self, digests: Iterable[str]) -> dict[str, int]:
        """See `RoundLog.deaths`."""
        found: dict[str, int] = _result(self._actor.deaths.remote([*digests]))
        return found

    def begin(self, digests: Iterable[str]) -> None:
        """Note that these rows are asked now, before they are."""
        _result(self._actor.begin.remote([*digests]))

    def add_part(self, name: str, digests: Iterable[str]) -> None:
        """See `RoundLog.add_part`."""
        _result(self._actor.add_part.remote(name, [*digests]))

    def parts_after(self, number: int) -> list[str]:
        """See `RoundLog.parts_after`."""
        names: list[str] = _result(self._actor.parts_after.remote(number))
        return names


def _result(reference: Any) -> Any:
    """The result of a call. What the coordinator raised is raised as it is."""
    import ray

    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None


GROUPS: Final = (0, 32, 4, 1, 1)
"""The number of rows that are asked together, by the number of deaths in which they were under way; 0 for all.

So a row that ends each process that asks it is soon alone. One that was under way in as many deaths as there are
numbers here is not asked again."""


class RoundLog:
    """Which rows are done, and how often the others were begun without ever being done. One for a cluster."""

    def __init__(self) -> None:
        self._done: set[str] = set()
        self._begun: Counter[str] = Counter()
        self.parts: list[str] = []
        """The parts that were written, in the order in which they came."""

    def deaths(self, digests: Iterable[str]) -> dict[str, int]:
        """The rows of these that are not done, with the number of times that each was begun."""
        return {digest: self._begun[digest] for digest in digests if digest not in self._done}

    def begin(self, digests: Iterable[str]) -> None:
        """Note that these rows are asked now. Until they are done, they may be what ends a process."""
        self._begun.update(digests)

    def add_part(self, name: str, digests: Iterable[str]) -> None:
        """Note a part that was written, and its rows as done."""
        if name not in self.parts[-1000:]:
            self.parts.append(name)
        for digest in digests:
            self._done.add(digest)
            self._begun.pop(digest, None)

    def parts_after(self, number: int) -> list[str]:
        """The parts behind the first ones."""
        return self.parts[number:]


def groups_of(deaths: dict[str, int]) -> tuple[list[Sequence[str]], list[str]]:
    """The groups in which rows are asked, one after the other, and the rows that are asked no more."""
    groups: list[Sequence[str]] = []
    for level, size in enumerate(GROUPS):
        rows = [digest for digest, number in deaths.items() if number == level]
        groups += [rows[at : at + (size or len(rows))] for at in range(0, len(rows), size or len(rows) or 1)]
    return groups, [digest for digest, number in deaths.items() if number >= len(GROUPS)]


_TURN: Final = 16
"""The most requests that a process may send when it is its turn, where nothing but Retry-After limits them; else one,
so that shares are equal."""
_RECHECK: Final = 1.0
"""Seconds after which a wait is looked at anew: tokens may have been given back meanwhile."""

Admission = tuple[int, float]
"""The number of requests that may be sent, and the time at which they were counted."""


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


class LimitCounter(Protocol):
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


class WaitingRequests:
    """The requests of one process to one model that wait until they may be sent. Belongs to the event loop."""

    def __init__(self, model: str, counter: LimitCounter, *, counts_tokens: bool) -> None:
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
            except Exception as error:  # the place is gone, and the waiting requests must fail
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

    gate: WaitingRequests

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
