"""Who may ask now: the windows of all models, in this process or in a file that processes share."""

from __future__ import annotations

import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pytest_fcall.backends.dispatch.clock import Clock
from pytest_fcall.backends.dispatch.limits import Limits
from pytest_fcall.backends.dispatch.window import Window

PATIENCE = 5.0
"""Seconds that the file may be in use: others have it for a tenth of a millisecond at a time."""

PAUSE = 0.0005

T = TypeVar("T")


class Ledger:
    """Keeps to rates and waiting times, by model. Used from one thread; the file is shared by processes.

    A file that cannot be used stops nobody: the limits then hold for this process alone, and `note` says so.
    """

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self.note = ""
        self._limits = limits
        self._clock = clock
        self._limited = limits.rpm is not None or limits.tpm is not None
        self._own: defaultdict[str, Window] = defaultdict(Window)
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

    def _change(self, model: str, change: Callable[[Window], T]) -> T:
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

    def change(self, model: str, change: Callable[[Window], T]) -> T:
        connection = self._connection or self._open()
        with connection:
            _insist(connection, "BEGIN EXCLUSIVE")
            row = connection.execute("SELECT window FROM windows WHERE model = ?", (model,)).fetchone()
            window = Window.from_text(row[0]) if row else Window()
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
        _insist(connection, "PRAGMA synchronous = OFF")
        _insist(connection, "PRAGMA journal_mode = PERSIST")
        with connection:
            _insist(connection, "BEGIN EXCLUSIVE")
            connection.execute("CREATE TABLE IF NOT EXISTS windows (model TEXT PRIMARY KEY, window TEXT) WITHOUT ROWID")
        return connection


def _insist(connection: sqlite3.Connection, statement: str) -> None:
    """Execute the statement as soon as nobody else has the file.

    SQLite itself waits longer with each try, so that one busy process can keep another out for seconds.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute(statement)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(PAUSE)
        else:
            return
