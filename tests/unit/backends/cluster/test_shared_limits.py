from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest

from pytest_fcall.backends.cluster.coordinator import Admission, SharedLimitsBackend, SharedWindows, WaitingRequests
from pytest_fcall.core import Backend, Reply, Request, Unanswered, Usage
from pytest_fcall.core.values import Json

REQUEST = Request(({"role": "user", "content": "Hi"},))


class Time:
    """A clock that goes on when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0

    def wall(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


class Local:
    """The place that counts, in the same process."""

    def __init__(self, windows: SharedWindows) -> None:
        self.windows = windows
        self.calls = 0

    async def admit(self, model: str, tokens: Sequence[int]) -> Admission:
        self.calls += 1
        await asyncio.sleep(0)  # the way there
        return await self.windows.admit(model, tokens)

    def block(self, model: str, seconds: float) -> None:
        self.windows.block(model, seconds)

    def settle_tokens(self, model: str, taken: float, tokens: int) -> None:
        self.windows.settle(model, taken, tokens)


class Model:
    settings: dict[str, Json] = {}  # noqa: RUF012
    reusable = True
    ahead = True

    def __init__(self, *outcomes: Reply | Unanswered) -> None:
        self.outcomes = [*outcomes]

    async def complete(self, request: Request) -> Reply:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Unanswered):
            raise outcome
        return outcome

    async def close(self) -> None:
        pass


def limited(backend: Backend, counter: Local, *, counts_tokens: bool = False) -> SharedLimitsBackend:
    return SharedLimitsBackend(backend, WaitingRequests("m", counter, counts_tokens=counts_tokens))


def test_all_processes_together_keep_to_the_rate_and_get_equal_shares() -> None:
    time = Time()
    counter = Local(SharedWindows(30, None, time.wall, time.sleep))
    sent: Counter[int] = Counter()
    gates = [WaitingRequests("m", counter, counts_tokens=False) for _ in range(3)]

    async def ask(number: int) -> None:
        await gates[number].enter(0)
        if time.now < 1050:
            sent[number] += 1

    async def run() -> None:
        # One of them has ten times as much to ask.
        await asyncio.gather(*(ask(number) for number in [0] * 100 + [1] * 10 + [2] * 10))

    asyncio.run(run())
    assert sent.total() == 30
    assert [sent[number] for number in range(3)] == [10, 10, 10]
    assert time.now > 1180  # 120 requests, 30 in each window


def test_requests_that_wait_together_ask_together() -> None:
    counter = Local(SharedWindows(None, None))
    gate = WaitingRequests("m", counter, counts_tokens=False)

    async def run() -> None:
        await asyncio.gather(*(gate.enter(0) for _ in range(64)))

    asyncio.run(run())
    assert counter.calls == 4


def test_a_pause_that_one_is_told_to_make_all_make() -> None:
    time = Time()
    windows = SharedWindows(None, None, time.wall, time.sleep)
    told = limited(Model(Unanswered("later", retry_after=30.0)), Local(windows))
    other = limited(Model(Reply("fine")), Local(windows))

    async def run() -> None:
        with pytest.raises(Unanswered):
            await told.complete(REQUEST)
        await other.complete(REQUEST)

    asyncio.run(run())
    assert time.now >= 1030


def test_tokens_that_were_not_used_are_given_back() -> None:
    time = Time()
    counter = Local(SharedWindows(None, 1000, time.wall, time.sleep))
    backend = limited(Model(*[Reply("fine", usage=Usage(1, 1))] * 50), counter, counts_tokens=True)

    async def run() -> None:
        for _ in range(50):
            await backend.complete(REQUEST)

    asyncio.run(run())
    assert time.now == 1000.0


def test_whoever_waits_hears_that_the_place_is_gone() -> None:
    class Gone(Local):
        async def admit(self, model: str, tokens: Sequence[int]) -> Admission:
            raise ConnectionError("gone")

    gate = WaitingRequests("m", Gone(SharedWindows(None, None)), counts_tokens=False)

    async def run() -> list[BaseException | float]:
        return await asyncio.gather(*(gate.enter(0) for _ in range(3)), return_exceptions=True)

    assert [str(each) for each in asyncio.run(run())] == ["gone"] * 3
