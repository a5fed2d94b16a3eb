"""Time, as a dispatcher needs it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


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
