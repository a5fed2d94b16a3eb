"""An end to calls that nobody waits for any more."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_GRACE = 2.0
"""Seconds that the parent is left to end the process, and to say why."""


@contextmanager
def ended_after(seconds: float) -> Iterator[None]:
    """Let the kernel end this process some time after `seconds`, should the parent be gone by then.

    Windows has no such thing.
    """
    _set(seconds + _GRACE)
    yield
    _set(0)


def _set(seconds: float) -> None:
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)
