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
from pytest_fcall.core.private_files import create_private, make_private_folder

WINDOW_SECONDS = 62.0
"""Seconds for which a request counts.

Requests are counted by whole seconds, so that 61 cover any minute. One more allows for requests that take longer to
the server than others.
"""

LONGEST_BLOCK_SECONDS = 3600.0
"""A block that ends later than this was written before the clock was set back, and is ignored."""

LOCK_SECONDS = 5.0
"""Seconds to wait for the file, which each process locks for a tenth of a millisecond at a time."""

LOCK_POLL_SECONDS = 0.0005

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


class RateLimits:
    """The rates and blocks of all models. Used from one thread; the file is shared by processes.

    If the file cannot be used, the limits apply to this process alone, and `warning` says so.
    """

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self.warning = ""
        self._limits = limits
        self._clock = clock
        self._limited = limits.rpm is not None or limits.tpm is not None
        self._own: defaultdict[str, RateWindow] = defaultdict(RateWindow)
        self._shared = _SharedWindows(limits.shared) if limits.shared else None

    def take(self, model: str, tokens: int) -> float:
        """Admit one request and return 0, or return the seconds to wait before the next try."""
        now, rpm, tpm = self._clock.wall(), self._limits.rpm, self._limits.tpm
        if self._shared and not self._limited and not self._shared.path.exists():
            return 0.0
        return self._change(model, lambda window: window.take(now, tokens, rpm, tpm))

    def settle(self, model: str, taken: float, tokens: int) -> None:
        """Correct the estimated tokens of a request that was admitted at the time `taken` by this difference."""
        if tokens and self._limits.tpm is not None:
            self._change(model, lambda window: window.settle(taken, tokens))

    def block(self, model: str, seconds: float) -> None:
        """Admit no request to this model for so many seconds."""
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
                self.warning = (
                    f"rate limits apply to each process separately: {self._shared.path} cannot be used: {error}"
                )
                self._shared.close()
                self._shared = None
        return change(self._own[model])


class _SharedWindows:
    """A file with one window a model. Each change is one transaction, so that a killed process leaves it whole."""

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
        make_private_folder(self.path.parent)
        create_private(self.path)
        self._connection = connection = sqlite3.connect(self.path, timeout=0, isolation_level=None)
        # The content is worthless after the next minute, so that it need not survive a crash of the machine.
        _execute_when_free(connection, "PRAGMA synchronous = OFF")
        _execute_when_free(connection, "PRAGMA journal_mode = PERSIST")
        with connection:
            _execute_when_free(connection, "BEGIN EXCLUSIVE")
            connection.execute("CREATE TABLE IF NOT EXISTS windows (model TEXT PRIMARY KEY, window TEXT) WITHOUT ROWID")
        return connection


def _execute_when_free(connection: sqlite3.Connection, statement: str) -> None:
    """Execute the statement as soon as no other process has locked the file.

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
