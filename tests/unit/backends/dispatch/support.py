"""Time that passes at once, and back ends that do as they are told."""

from __future__ import annotations

import asyncio
import heapq
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count

from pytest_fcall.backends.dispatch.dispatcher import Dispatcher
from pytest_fcall.backends.dispatch.job import AnsweredJob, DispatchLimits, Job
from pytest_fcall.core import Backend, Json, Reply, Request, Unanswered

NOON = 1_800_000_000.0
MOMENT = 20
"""Rounds of the event loop in which everything that can be done at one time is done."""


class JumpingClock:
    """Stands still while there is something to do, and jumps to where the next one wants to be woken."""

    def __init__(self) -> None:
        self.now = NOON
        self.waits: list[float] = []
        self._alarms: list[tuple[float, int, Callable[[], object]]] = []
        self._numbers = count()

    def wall(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now - NOON

    def call_later(self, delay: float, callback: Callable[[], object]) -> None:
        self.waits.append(delay)
        heapq.heappush(self._alarms, (self.now + delay, next(self._numbers), callback))
        if len(self._alarms) == 1:
            self._stand_still(MOMENT)

    def _stand_still(self, rounds: int) -> None:
        if rounds:
            asyncio.get_running_loop().call_soon(self._stand_still, rounds - 1)
            return
        due, _, callback = heapq.heappop(self._alarms)
        self.now = max(self.now, due)
        if self._alarms:
            self._stand_still(MOMENT)
        callback()


class Scripted:
    """Answers by script, then says what was asked; keeps when that was, and how much was on its way at once."""

    reusable = True
    ahead = True

    def __init__(self, *script: Reply | BaseException, clock: JumpingClock | None = None) -> None:
        self.settings: Mapping[str, Json] = {}
        self.script = deque(script)
        self.asked: list[str] = []
        self.times: list[float] = []
        self.most = 0
        self.closed = 0
        self._clock = clock
        self._running = 0

    async def complete(self, request: Request) -> Reply:
        self.asked.append(said(request))
        if self._clock:
            self.times.append(self._clock.now)
        self._running += 1
        self.most = max(self.most, self._running)
        try:
            return await self.answer(request)
        finally:
            self._running -= 1

    async def answer(self, request: Request) -> Reply:
        await asyncio.sleep(0)
        scripted = self.script.popleft() if self.script else Reply(said(request))
        if isinstance(scripted, BaseException):
            raise scripted
        return scripted

    async def close(self) -> None:
        self.closed += 1


class Silent(Scripted):
    """Never answers."""

    def __init__(self) -> None:
        super().__init__()
        self.cancelled = 0

    async def answer(self, request: Request) -> Reply:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        raise AssertionError


def said(request: Request) -> str:
    return str(request.messages[-1]["content"])


def job(text: str, backend: Backend, model: str = "openai:exam") -> Job:
    return Job(model, backend, Request(({"role": "user", "content": text},)), f"{model} {text}")


def jobs(count: int, backend: Backend, model: str = "openai:exam") -> list[Job]:
    return [job(str(number), backend, model) for number in range(count)]


def busy(*, retry_after: float | None = None) -> Unanswered:
    return Unanswered("too many requests", retry_after=retry_after, throttled=True)


def broken() -> Unanswered:
    return Unanswered("HTTP 500")


def gone() -> Unanswered:
    return Unanswered("nobody is there", unreachable=True)


def nowhere(arrivals: Sequence[AnsweredJob]) -> None:
    """Keep no reply."""


class Run:
    """A dispatcher in time that jumps, and what it did."""

    def __init__(self, limits: DispatchLimits) -> None:
        self.clock = JumpingClock()
        self.replied: list[str] = []
        self.dispatcher = Dispatcher(limits, self._on_replies, clock=self.clock, jitter=lambda: 1.0)

    def _on_replies(self, arrivals: Sequence[AnsweredJob]) -> None:
        self.replied += [said(job.request) for job, _ in arrivals]

    def ask(self, jobs: Iterable[Job]) -> list[str | BaseException | None]:
        """Submit all before the first is begun, wait, and return their texts or errors."""
        with self.at_rest():
            futures = [self.dispatcher.submit(each) for each in jobs]
        return [future.exception(10) or future.result().text for future in futures]

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Have the dispatcher's event loop begin nothing meanwhile."""
        rests, goes_on = threading.Event(), threading.Event()

        async def rest() -> None:
            rests.set()
            goes_on.wait(10)

        self.dispatcher.run(rest())
        assert rests.wait(10)
        try:
            yield
        finally:
            goes_on.set()
