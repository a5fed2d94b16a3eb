"""Requests and tokens per minute and Retry-After, by model, in this process or in a file that processes share."""

from __future__ import annotations

import json
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self, TypeVar

from pytest_fcall.backends.dispatch.job import Clock, Limits

WINDOW_SECONDS = 62.0
"""Seconds for which a request counts.

Requests are counted by whole seconds, so that 61 of these cover any minute; one more is left for requests that
take longer to the server than others do.
"""

LONGEST_BLOCK_SECONDS = 3600.0
"""A time to wait for that lies further ahead was written before a clock was set back."""


@dataclass(slots=True)
class RateWindow:
    """Requests and tokens by the second in which they were let through. Times are seconds since 1970."""

    blocked: float = 0.0
    """Nothing may be asked before this time, for the server said so."""
    seconds: dict[int, tuple[int, int]] = field(default_factory=dict)

    def take(self, now: float, tokens: int, rpm: int | None, tpm: int | None) -> float:
        """Let one request through, and return 0; else return the seconds after which to try again."""
        self.seconds = {second: used for second, used in self.seconds.items() if abs(now - second) < WINDOW_SECONDS}
        if self.blocked > now + LONGEST_BLOCK_SECONDS:
            self.blocked = 0.0
        if (wait := self._wait(now, tokens, rpm, tpm)) > 0:
            return wait
        if rpm is not None or tpm is not None:
            self._count(int(now), 1, tokens)
        return 0.0

    def settle(self, taken: float, tokens: int) -> None:
        """Count so many tokens more, or fewer, for a request that was let through at the time `taken`."""
        if int(taken) in self.seconds:
            self._count(int(taken), 0, tokens)

    def block(self, until: float) -> None:
        """Let nothing through before that time."""
        self.blocked = max(self.blocked, until)

    def _count(self, second: int, requests: int, tokens: int) -> None:
        counted = self.seconds.get(second, (0, 0))
        self.seconds[second] = (counted[0] + requests, max(0, counted[1] + tokens))

    def _wait(self, now: float, tokens: int, rpm: int | None, tpm: int | None) -> float:
        """Go back in time to the second that must be over first."""
        wait = max(0.0, self.blocked - now)
        requests, used = 1, tokens
        for second in sorted(self.seconds, reverse=True):
            requests += self.seconds[second][0]
            used += self.seconds[second][1]
            if (rpm is not None and requests > rpm) or (tpm is not None and used > tpm):
                return max(wait, second + WINDOW_SECONDS - now)
        return wait

    def to_text(self) -> str:
        """Say it in JSON."""
        return json.dumps([self.blocked, [[second, *used] for second, used in self.seconds.items()]])

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read what `to_text` wrote. Anything else is a window in which nothing was asked yet."""
        try:
            blocked, rows = json.loads(text)
            return cls(float(blocked), {int(row[0]): (int(row[1]), int(row[2])) for row in rows})
        except (ValueError, TypeError, LookupError, OverflowError, RecursionError):
            return cls()


LOCK_SECONDS = 5.0
"""Seconds that the file may be in use: others have it for a tenth of a millisecond at a time."""

LOCK_POLL_SECONDS = 0.0005

T = TypeVar("T")


class RateLimits:
    """Keeps to rates and waiting times, by model. Used from one thread; the file is shared by processes.

    A file that cannot be used stops nobody: the limits then hold for this process alone, and `note` says so.
    """

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self.note = ""
        self._limits = limits
        self._clock = clock
        self._limited = limits.rpm is not None or limits.tpm is not None
        self._own: defaultdict[str, RateWindow] = defaultdict(RateWindow)
        self._shared = _SharedWindows(limits.shared) if limits.shared else None

    def take(self, model: str, tokens: int) -> float:
        """Count a request, and return 0; else return the seconds after which to try again."""
        now, rpm, tpm = self._clock.wall(), self._limits.rpm, self._limits.tpm
        if self._shared and not self._limited and not self._shared.path.exists():
            return 0.0
        return self._change(model, lambda window: window.take(now, tokens, rpm, tpm))

    def settle(self, model: str, taken: float, tokens: int) -> None:
        """Correct the estimate for a request that was let through at the time `taken` by so many tokens."""
        if tokens and self._limits.tpm is not None:
            self._change(model, lambda window: window.settle(taken, tokens))

    def block(self, model: str, seconds: float) -> None:
        """Let nobody ask this model for so long."""
        until = self._clock.wall() + seconds
        self._change(model, lambda window: window.block(until))

    def close(self) -> None:
        """Close the file, if it was opened."""
        if self._shared:
            self._shared.close()

    def _change(self, model: str, change: Callable[[RateWindow], T]) -> T:
        if self._shared:
            try:
                return self._shared.change(model, change)
            except (sqlite3.Error, OSError) as error:
                self.note = f"rate limits hold for each process alone: {self._shared.path} cannot be used: {error}"
                self._shared.close()
                self._shared = None
        return change(self._own[model])


class _SharedWindows:
    """A file with one window a model. Each change is one transaction, so that a killed process leaves no half of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None

    def change(self, model: str, change: Callable[[RateWindow], T]) -> T:
        connection = self._connection or self._open()
        with connection:
            _execute_when_free(connection, "BEGIN EXCLUSIVE")
            row = connection.execute("SELECT window FROM windows WHERE model = ?", (model,)).fetchone()
            window = RateWindow.from_text(row[0]) if row else RateWindow()
            result = change(window)
            if (text := window.to_text()) != (row and row[0]):
                connection.execute("INSERT OR REPLACE INTO windows VALUES (?, ?)", (model, text))
        return result

    def close(self) -> None:
        if self._connection:
            self._connection.close()

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = connection = sqlite3.connect(self.path, timeout=0, isolation_level=None)
        # What is in the file is worth nothing after the next minute: it need not outlive the machine.
        _execute_when_free(connection, "PRAGMA synchronous = OFF")
        _execute_when_free(connection, "PRAGMA journal_mode = PERSIST")
        with connection:
            _execute_when_free(connection, "BEGIN EXCLUSIVE")
            connection.execute("CREATE TABLE IF NOT EXISTS windows (model TEXT PRIMARY KEY, window TEXT) WITHOUT ROWID")
        return connection


def _execute_when_free(connection: sqlite3.Connection, statement: str) -> None:
    """Execute the statement as soon as nobody else has the file.

    SQLite itself waits longer with each try, so that one busy process can keep another out for seconds.
    """
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            connection.execute(statement)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(LOCK_POLL_SECONDS)
        else:
            return
