"""Ledgers, in which processes count together: texts by name, each of which one process at a time may change."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import Final, Protocol, Self, TypeVar

from pytest_fcall.core.files import create_private, make_private_folder

LOCK_SECONDS = 5.0
"""Seconds to wait for a file that each process locks for a tenth of a millisecond at a time."""
LOCK_POLL_SECONDS = 0.0005
_ABANDONED_SECONDS = 7 * 86_400
"""No run takes so long, and no clock is so wrong."""

T = TypeVar("T")
Entry = TypeVar("Entry", bound="LedgerEntry")


def ledger_path(folder: Path, run: str) -> Path:
    """The file of a run's own in this folder."""
    return folder / f"limits-{run}.db"


class LedgerError(Exception):
    """The ledger cannot be read or written. The text says which one, and why."""


class Ledger(Protocol):
    """Texts by name. All processes that share the ledger have the same time, in seconds since 1970."""

    @property
    def remote(self) -> RemoteLedger | None:
        """The ledger itself if it is on another machine, for which no event loop should wait."""
        ...

    def change(self, name: str, change: Callable[[str, float], tuple[str, T]]) -> T:
        """Have `change` make a new text of the old one and the time, while no other process can; return the rest.

        A text that nobody has written is empty. Raises LedgerError.
        """
        ...

    def read(self, name: str) -> tuple[str, float]:
        """The text and the time. The text may be a second old. Raises LedgerError."""
        ...

    def close(self) -> None:
        """Let go of what was opened. The next call opens it again."""
        ...


class LedgerEntry(Protocol):
    """The data that a text of a ledger holds."""

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read what `to_text` returned; of an empty text, what nobody has changed."""
        ...

    def to_text(self) -> str:
        """The text."""
        ...


def text_change(kind: type[Entry], change: Callable[[Entry, float], T]) -> Callable[[str, float], tuple[str, T]]:
    """The change of a text, for `Ledger.change`, by a change of the entry that the text holds."""

    def changed(text: str, now: float) -> tuple[str, T]:
        entry = kind.from_text(text)
        result = change(entry, now)
        return entry.to_text(), result

    return changed


class RemoteLedger(Protocol):
    """Does what is submitted in a thread of its own, in this order; of one kind, as much at a time as there is."""

    def submit(self, name: str, change: Callable[[str, float], tuple[str, T]]) -> Future[T]:
        """Begin `Ledger.change`, which may be made once more if the connection is lost."""
        ...

    def submit_read(self, name: str) -> Future[tuple[str, float]]:
        """Begin `Ledger.read`."""
        ...


async def change_soon(ledger: Ledger, name: str, change: Callable[[str, float], tuple[str, T]]) -> T:
    """Do what `ledger.change` does, and keep no event loop waiting for another machine."""
    if (remote := ledger.remote) is None:
        return ledger.change(name, change)
    from asyncio import wrap_future

    return await wrap_future(remote.submit(name, change))


class OwnLedger:
    """The ledger of one process alone. Safe with threads."""

    remote: Final = None

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._texts: dict[str, str] = {}
        self._lock = RLock()

    def change(self, name: str, change: Callable[[str, float], tuple[str, T]]) -> T:
        """Change a text."""
        with self._lock:
            self._texts[name], result = change(self._texts.get(name, ""), self._clock())
            return result

    def read(self, name: str) -> tuple[str, float]:
        """The text and the time."""
        return self._texts.get(name, ""), self._clock()

    def close(self) -> None:
        """Nothing is open."""


class FileLedger:
    """A file for the processes of one machine. Each change is one transaction: a killed process leaves it whole.

    The file is made with the first change. It may be shared by threads.
    """

    remote: Final = None

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._clock = clock
        self._lock = RLock()
        self._connection: sqlite3.Connection | None = None

    def change(self, name: str, change: Callable[[str, float], tuple[str, T]]) -> T:
        """Change a text."""
        with self._lock:
            try:
                connection = self._connection or self._open()
                with connection:
                    _execute_when_free(connection, "BEGIN EXCLUSIVE")
                    before = _text(connection, name)
                    after, result = change(before, self._clock())
                    if after != before:
                        connection.execute("INSERT OR REPLACE INTO texts VALUES (?, ?)", (name, after))
            except (sqlite3.Error, OSError) as error:
                raise LedgerError(f"{self._path} cannot be used: {error}") from error
            return result

    def read(self, name: str) -> tuple[str, float]:
        """The text and the time; there is none as long as nobody has made the file."""
        with self._lock:
            if not self._path.exists():
                return "", self._clock()
            try:
                return _text(self._connection or self._open(), name), self._clock()
            except (sqlite3.Error, OSError) as error:
                raise LedgerError(f"{self._path} cannot be used: {error}") from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> sqlite3.Connection:
        make_private_folder(self._path.parent)
        if not self._path.exists():
            _forget_abandoned(self._path.parent)
        create_private(self._path)
        connection = sqlite3.connect(self._path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            # The content is worthless after the run, so that it need not survive a crash of the machine.
            _execute_when_free(connection, "PRAGMA synchronous = OFF")
            _execute_when_free(connection, "PRAGMA journal_mode = PERSIST")
            with connection:
                _execute_when_free(connection, "BEGIN EXCLUSIVE")
                connection.execute("CREATE TABLE IF NOT EXISTS texts (name TEXT PRIMARY KEY, text TEXT) WITHOUT ROWID")
        except BaseException:  # Ctrl+C, too
            connection.close()
            raise
        self._connection = connection
        return connection


def _forget_abandoned(folder: Path) -> None:
    """Delete the files of runs that nobody has deleted: their controller was killed, or is on another host."""
    long_ago = time.time() - _ABANDONED_SECONDS
    for path in folder.glob("limits-*.db*"):
        with suppress(OSError):  # another process deletes them, too
            if path.stat().st_mtime < long_ago:
                path.unlink()


def _text(connection: sqlite3.Connection, name: str) -> str:
    row = _execute_when_free(connection, "SELECT text FROM texts WHERE name = ?", name).fetchone()
    return str(row[0]) if row else ""


def _execute_when_free(connection: sqlite3.Connection, statement: str, *values: str) -> sqlite3.Cursor:
    """Execute the statement as soon as no other process has locked the file.

    SQLite itself waits longer with each try, so that one busy process can keep another out for seconds.
    """
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return connection.execute(statement, values)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(LOCK_POLL_SECONDS)
