"""Requests and tokens per minute and Retry-After, by model, in this process or in a ledger that processes share."""

from __future__ import annotations

import json
from asyncio import wrap_future
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import NamedTuple, Self, TypeVar

from pytest_fcall.backends.dispatch.job import Clock, DispatchLimits
from pytest_fcall.backends.processes.ledger import Ledger, LedgerError, OwnLedger, RemoteLedger, text_change

WINDOW_SECONDS = 62.0
"""Seconds for which a request counts.

Requests are counted by whole seconds, so that 61 cover any minute. One more allows for requests that take longer to
the server than others.
"""

LONGEST_BLOCK_SECONDS = 3600.0
"""A block that ends later than this was written before the clock was set back, and is ignored."""

T = TypeVar("T")


@dataclass(slots=True)
class RateWindow:
    """Requests and tokens of one model, by the second in which they were admitted. Times are seconds since 1970."""

    blocked: float = 0.0
    """No request may be sent before this time, as the server demanded."""
    seconds: dict[int, tuple[int, int]] = field(default_factory=dict)

    def take(self, now: float, tokens: int, rpm: int | None, tpm: int | None) -> float:
        """Admit one request and return 0, or return the seconds to wait before the next try."""
        self.seconds = {second: used for second, used in self.seconds.items() if abs(now - second) < WINDOW_SECONDS}
        if self.blocked > now + LONGEST_BLOCK_SECONDS:
            self.blocked = 0.0
        if (wait := self._wait(now, tokens, rpm, tpm)) > 0:
            return wait
        if rpm is not None or tpm is not None:
            self._count(int(now), 1, tokens)
        return 0.0

    def settle(self, taken: float, tokens: int) -> None:
        """Correct the tokens of a request that was admitted at the time `taken` by this difference."""
        if int(taken) in self.seconds:
            self._count(int(taken), 0, tokens)

    def block(self, until: float) -> None:
        """Admit no request before that time."""
        self.blocked = max(self.blocked, until)

    def _count(self, second: int, requests: int, tokens: int) -> None:
        counted = self.seconds.get(second, (0, 0))
        self.seconds[second] = (counted[0] + requests, max(0, counted[1] + tokens))

    def _wait(self, now: float, tokens: int, rpm: int | None, tpm: int | None) -> float:
        """The seconds until so many requests and tokens are outside the window that one more fits."""
        wait = max(0.0, self.blocked - now)
        requests, used = 1, tokens
        for second in sorted(self.seconds, reverse=True):
            requests += self.seconds[second][0]
            used += self.seconds[second][1]
            if (rpm is not None and requests > rpm) or (tpm is not None and used > tpm):
                return max(wait, second + WINDOW_SECONDS - now)
        return wait

    def to_text(self) -> str:
        """The window as JSON text."""
        return json.dumps([self.blocked, [[second, *used] for second, used in self.seconds.items()]])

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read what `to_text` returned. Any other text gives an empty window."""
        try:
            blocked, rows = json.loads(text)
            return cls(float(blocked), {int(row[0]): (int(row[1]), int(row[2])) for row in rows})
        except (ValueError, TypeError, LookupError, OverflowError, RecursionError):
            return cls()


class Admission(NamedTuple):
    """Whether a request may be sent."""

    wait: float
    """Seconds to wait before the next try; 0 where it may be sent."""
    at: float
    """The time of the ledger, for `settle`."""


class RateLimits:
    """The rates and blocks of all models. Used from one thread; the ledger is shared by processes.

    If the ledger cannot be used, the limits apply to this process alone, and `warning` says so.
    """

    def __init__(self, limits: DispatchLimits, clock: Clock) -> None:
        self.warning = ""
        self._limits = limits
        self._limited = limits.rpm is not None or limits.tpm is not None
        self._own = OwnLedger(clock.wall)
        self._shared = limits.shared

    @property
    def are_remote(self) -> bool:
        """Whether they are counted on another machine, for which no event loop should wait."""
        return self._remote is not None

    @property
    def _remote(self) -> RemoteLedger | None:
        shared = self._shared
        return shared.remote if shared else None

    def take(self, model: str, tokens: int) -> Admission:
        """Admit one request, or say when to try again."""
        taking = self._taking([tokens])
        if self._limited:
            return self._change(model, taking)[0]
        # Where nothing is counted there may still be a time to wait for; looking changes nothing.
        text, now = self._read(model)
        return taking(RateWindow.from_text(text), now)[0] if text else Admission(0.0, now)

    async def take_all(self, model: str, tokens: Sequence[int]) -> Sequence[Admission]:
        """Admit requests with these tokens, up to the first that has to be tried again; wait for no other machine."""
        taking = self._taking(tokens)
        if remote := self._remote:
            try:
                if self._limited:
                    return await wrap_future(remote.submit(_name(model), text_change(RateWindow, taking)))
                text, now = await wrap_future(remote.submit_read(_name(model)))
                return taking(RateWindow.from_text(text), now)
            except LedgerError as error:
                self._count_alone(error)
        return self._change(model, taking)

    def _taking(self, tokens: Sequence[int]) -> Callable[[RateWindow, float], Sequence[Admission]]:
        rpm, tpm = self._limits.rpm, self._limits.tpm

        def take(window: RateWindow, now: float) -> Sequence[Admission]:
            taken: list[Admission] = []
            for each in tokens:
                taken.append(Admission(window.take(now, each, rpm, tpm), now))
                if taken[-1].wait > 0:
                    break
            return taken

        return take

    def settle(self, model: str, taken: float, tokens: int) -> None:
        """Correct the estimated tokens of a request that was admitted at the time `taken` by this difference."""
        if tokens and self._limits.tpm is not None:
            self._note(model, lambda window, _: window.settle(taken, tokens))

    def block(self, model: str, seconds: float) -> None:
        """Admit no request to this model for so many seconds."""
        self._note(model, lambda window, now: window.block(now + seconds))

    def close(self) -> None:
        """Let go of the ledger."""
        if self._shared:
            self._shared.close()

    def _note(self, model: str, change: Callable[[RateWindow, float], None]) -> None:
        """Make a change before any request is admitted from now on, and wait for no other machine."""
        if remote := self._remote:
            remote.submit(_name(model), text_change(RateWindow, change)).add_done_callback(self._noted)
        else:
            self._change(model, change)

    def _noted(self, future: Future[None]) -> None:
        """Take the error of a change that nobody waits for; in another thread."""
        if not future.cancelled() and isinstance(error := future.exception(), LedgerError):
            self._count_alone(error)

    def _change(self, model: str, change: Callable[[RateWindow, float], T]) -> T:
        return self._with_ledger(lambda ledger: ledger.change(_name(model), text_change(RateWindow, change)))

    def _read(self, model: str) -> tuple[str, float]:
        return self._with_ledger(lambda ledger: ledger.read(_name(model)))

    def _with_ledger(self, use: Callable[[Ledger], T]) -> T:
        if self._shared:
            try:
                return use(self._shared)
            except LedgerError as error:
                self._count_alone(error)
        return use(self._own)

    def _count_alone(self, error: LedgerError) -> None:
        self.warning = f"rate limits apply to each process separately: {error}"
        if self._shared:
            self._shared.close()
            self._shared = None


def _name(model: str) -> str:
    return f"rate of {model}"
