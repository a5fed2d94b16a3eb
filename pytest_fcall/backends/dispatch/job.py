"""Jobs, limits and the clock that a dispatcher is given, and the progress it reports."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Protocol

from pytest_fcall.core import Backend, Request


class Clock(Protocol):
    """Tells the time, and wakes."""

    def wall(self) -> float:
        """Seconds since 1970: the same in all processes."""
        ...

    def monotonic(self) -> float:
        """Seconds since some moment; never goes back."""
        ...

    def call_later(self, delay: float, callback: Callable[[], object]) -> object:
        """Call `callback` in the running event loop when `delay` seconds have passed."""
        ...


class SystemClock:
    """The time of this machine."""

    def wall(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds since the machine started."""
        return time.monotonic()

    def call_later(self, delay: float, callback: Callable[[], object]) -> object:
        """Leave the waiting to the event loop."""
        return asyncio.get_running_loop().call_later(delay, callback)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a dispatcher keeps to. Raises ValueError, in words, for what makes no sense."""

    concurrency: int = 64
    """Requests on their way at the same time, from this process."""
    rpm: int | None = None
    """Requests to one model in any minute."""
    tpm: int | None = None
    """Tokens, in and out, of one model in any minute: estimated until the reply says how many there were."""
    timeout: float | None = None
    """Seconds that one request may take, whatever its back end allows; None leaves that to the back end."""
    retries: int = 5
    """How often a request is asked for again."""
    budget: float = 900.0
    """Seconds from the first try of a request to its last."""
    shared: Path | None = None
    """The file through which processes keep to rpm, tpm and Retry-After together; None where there is one process."""

    def __post_init__(self) -> None:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        for name in ("concurrency", "rpm", "tpm"):
            if values[name] is not None and values[name] < 1:
                raise ValueError(f"{name} must be at least 1, not {values[name]}")
        for name in ("timeout", "retries", "budget"):
            if values[name] is not None and not values[name] >= 0:
                raise ValueError(f"{name} must not be negative: {values[name]}")


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A request, and who is to answer it."""

    model_id: str
    backend: Backend
    request: Request
    digest: str
    """Names model and request. Jobs of the same digest are one."""


@dataclass(slots=True)
class Figures:
    """How far the work is. Numbers of jobs, but for tokens and retries."""

    submitted: int = 0
    in_flight: int = 0
    """On their way to a model right now. Others wait for their turn, or before they are asked for again."""
    done: int = 0
    failed: int = 0
    retried: int = 0
    """Requests that were sent again."""
    input_tokens: int = 0
    output_tokens: int = 0
    note: str = ""
    """What people should know about the limits: that the shared file cannot be used."""
