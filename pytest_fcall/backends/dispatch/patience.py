"""When to ask again, and when to leave it."""

from __future__ import annotations

from collections.abc import Callable

from pytest_fcall.backends.dispatch.limits import Limits
from pytest_fcall.core import Unanswered

FIRST = 0.5
"""Seconds that the first wait takes at most; each later one at most twice as long."""

LONGEST = 60.0


class Patience:
    """The patience with one request, from its first try on."""

    def __init__(self, limits: Limits, now: float, answers: int, jitter: Callable[[], float]) -> None:
        self._retries = limits.retries
        self._deadline = now + limits.budget
        self._answers = answers
        self._jitter = jitter
        self._failures = 0
        self._asked = 0

    def wait(self, error: Unanswered, told: float, now: float, answers: int, *, again: bool) -> float:
        """Return the seconds to wait before asking again: those told by the server, and a random while on top.

        Raises `Unanswered` where it was the last try, as it always is without `again`. A request that was turned
        away while others were taken has done nothing wrong: that uses up time, but no retry. `answers` counts those
        that were taken so far.
        """
        self._asked += 1
        self._failures += not (error.throttled and answers > self._answers)
        self._answers = answers
        ceiling = min(LONGEST, FIRST * 2.0 ** (self._asked - 1))
        wait = told + ceiling * self._jitter()
        if not again or self._failures > self._retries or now + wait > self._deadline:
            raise self._spent(error)
        return wait

    def _spent(self, error: Unanswered) -> Unanswered:
        if self._asked == 1:
            return error
        text = f"{error} (asked {self._asked} times)"
        return Unanswered(text, retry_after=error.retry_after, throttled=error.throttled)
