"""Jobs, limits and the clock that a dispatcher is given, and the progress it reports."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Protocol, TypeAlias

from pytest_fcall.backends.processes.ledger import Ledger
from pytest_fcall.core.backend import Backend
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request


class Claim(Protocol):
    """The right to send a request, which one of several processes has."""

    async def reply(self) -> Reply | None:
        """Wait while another process sends the request. Return its reply; None where it is now ours to send."""
        ...

    def release(self) -> None:
        """Let another process send it: there was no reply."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A request, and the backend that answers it."""

    model_id: str
    backend: Backend
    request: Request
    digest: str
    """The digest of model and request. Jobs with the same digest are answered once."""
    claim: Claim | None = None
    """None where no other process may want the reply."""
    owner: object = None
    """Whatever the job is known by to those who are handed it back with its reply."""


AnsweredJob: TypeAlias = tuple[Job, Reply]


@dataclass(frozen=True, slots=True)
class DispatchLimits:
    """The limits of a dispatcher. Raises ValueError for values that make no sense."""

    concurrency: int = 64
    """Requests in flight at the same time, from this process."""
    rpm: int | None = None
    """Requests per minute to each model."""
    tpm: int | None = None
    """Tokens per minute of each model, input and output: estimated until the reply brings the actual number."""
    timeout: float | None = None
    """Seconds for one attempt, whatever the backend allows; None leaves that to the backend."""
    retries: int = 5
    """Further attempts after the first one."""
    retry_seconds: float = 900.0
    """Seconds from the first attempt to the last."""
    shared: Ledger | None = None
    """The ledger in which processes count rpm, tpm and Retry-After together; None for a single process."""

    def __post_init__(self) -> None:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        for name in ("concurrency", "rpm", "tpm"):
            if values[name] is not None and values[name] < 1:
                raise ValueError(f"{name} must be at least 1, not {values[name]}")
        for name in ("timeout", "retries", "retry_seconds"):
            if values[name] is not None and not values[name] >= 0:
                raise ValueError(f"{name} must not be negative: {values[name]}")


@dataclass(slots=True)
class DispatchProgress:
    """Numbers of jobs, retries and tokens so far."""

    submitted: int = 0
    in_flight: int = 0
    """Jobs that are being answered right now, without those that wait for their turn or for a retry."""
    done: int = 0
    failed: int = 0
    retried: int = 0
    """Requests that were sent again."""
    input_tokens: int = 0
    output_tokens: int = 0
    warning: str = ""
    """A message for people if the limits cannot be shared."""


class Clock(Protocol):
    """Tells the time, and calls back later."""

    def wall(self) -> float:
        """Seconds since 1970, the same in all processes."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back."""
        ...

    def call_later(self, delay: float, callback: Callable[[], object]) -> object:
        """Call `callback` in the running event loop after `delay` seconds."""
        ...


class SystemClock:
    """The clock of this machine."""

    def wall(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    def call_later(self, delay: float, callback: Callable[[], object]) -> object:
        """Call `callback` in the running event loop after `delay` seconds."""
        return asyncio.get_running_loop().call_later(delay, callback)
