"""The connection of a process to the database file, and its errors in words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import RLock
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from pytest_fcall.backends.processes.locks import locked
from pytest_fcall.backends.store.repair import PAGE_SIZE, copy_readable, is_truncated, set_aside
from pytest_fcall.backends.store.tables import NewerVersion, migrate


class StoreError(Exception):
    """The store could not do what it was asked. The text is one line for people, and says what to do."""


_WORDS: Mapping[int, str] = MappingProxyType(
    {
        sqlite3.SQLITE_FULL: "the disk is full; make room and run again",
        sqlite3.SQLITE_IOERR: "the disk refuses to read or write; look whether it is full or failing",
        sqlite3.SQLITE_READONLY: "the file or its folder may not be written",
        sqlite3.SQLITE_PERM: "the file may not be read",
        sqlite3.SQLITE_CANTOPEN: "the file cannot be opened or created",
        sqlite3.SQLITE_BUSY: "another program has kept it locked for too long",
        sqlite3.SQLITE_LOCKED: "another program has kept it locked for too long",
    }
)
_DAMAGE = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
"""What sound statements meet only where the file is not what we wrote."""


def store_error(path: Path, error: Exception) -> StoreError:
    """Say what `error` means for the person whose recorded replies are in `path`."""
    if isinstance(error, sqlite3.Error):
        said = _WORDS.get(_error_code(error), str(error))
    else:
        said = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    return StoreError(f"recorded replies in {path}: {said}")


def is_damage(path: Path, error: sqlite3.Error) -> bool:
    """Whether the file is not what we wrote, as opposed to busy, full or forbidden."""
    code = _error_code(error)
    # A file may call itself one that nobody may write.
    return code in _DAMAGE or (code == sqlite3.SQLITE_READONLY and os.access(path, os.W_OK))


def _error_code(error: sqlite3.Error) -> int:
    """The primary code; errors that Python itself raises have none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


Result = TypeVar("Result")
Work: TypeAlias = Callable[[sqlite3.Connection], Result]

PATIENCE = 30.0
"""Seconds to wait for other processes, whose transactions last milliseconds."""


class Database:
    """A file that many threads and processes share. It is opened when it is first needed, and mended if damaged.

    `tell` is called with a sentence for people when something had to be mended.
    """

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        self._path = path
        self._tell = tell
        self._lock = RLock()
        self._connection: sqlite3.Connection | None = None
        self._opened_file: tuple[int, int] | None = None
        self._process = os.getpid()
        self._inherited: sqlite3.Connection | None = None

    @property
    def exists(self) -> bool:
        """Whether there is anything to read."""
        return self._connection is not None or self._path.exists()

    def read(self, work: Work[Result]) -> Result:
        """Do `work`, which changes nothing. Raises StoreError."""
        with self._lock:
            return self._mending(lambda: work(self._opened()))

    def write(self, work: Work[Result]) -> Result:
        """Do `work` in one transaction; what it wrote stands in the file when this returns. Raises StoreError.

        Another process may have set the file aside meanwhile, to mend it: then `work` is done again in the new one.
        """
        with self._lock:
            while True:
                done = self._mending(lambda: _transaction(self._opened(), work))
                if self._opened_file == _identity(self._path):
                    return done
                self._drop()

    def shrink(self) -> None:
        """Give room that is no longer needed back, unless others are at work."""
        with self._lock, suppress(sqlite3.Error):
            self._opened().execute("VACUUM")

    def close(self) -> None:
        """Let go of the file; it is opened again when it is needed again."""
        with self._lock:
            self._drop()

    def _mending(self, work: Callable[[], Result]) -> Result:
        try:
            try:
                return work()
            except sqlite3.Error as error:
                if not is_damage(self._path, error):
                    raise
                self._mend()
                return work()
        except (sqlite3.Error, OSError) as error:
            raise store_error(self._path, error) from error

    def _opened(self) -> sqlite3.Connection:
        if self._process != os.getpid():
            # A forked process may neither use nor close what its parent opened.
            self._inherited, self._connection = self._connection, None
            self._process = os.getpid()
        if self._connection is None:
            _make_folder(self._path.parent)
            with locked(self._guard, PATIENCE):
                self._connection = self._sound()
                self._opened_file = _identity(self._path)
        return self._connection

    @property
    def _guard(self) -> Path:
        """Held while the file is opened or set aside, so that nobody opens a file that is half moved."""
        return self._path.with_name(f"{self._path.name}.lock")

    def _sound(self) -> sqlite3.Connection:
        if is_truncated(self._path):
            set_aside(self._path)
        try:
            connection = _connect(self._path)
        except sqlite3.Error as error:
            if not is_damage(self._path, error):
                raise
            set_aside(self._path)
            connection = _connect(self._path)
        for sentence in copy_readable(connection, self._path):
            self._tell(sentence)
        return connection

    def _mend(self) -> None:
        """Set the file aside unless another process has done so since it was opened."""
        self._drop()
        with locked(self._guard, PATIENCE):
            if self._opened_file == _identity(self._path):
                set_aside(self._path)

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        connection.text_factory = _lenient
        connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint = 8000")
        connection.execute("PRAGMA cache_size = -8000")
        migrate(connection)
    except NewerVersion:
        connection.close()
        raise StoreError(f"recorded replies in {path}: a newer pytest-fcall wrote them; update this one") from None
    except BaseException:
        connection.close()
        raise
    return connection


def _lenient(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _transaction(connection: sqlite3.Connection, work: Work[Result]) -> Result:
    connection.execute("BEGIN IMMEDIATE")
    try:
        done = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.rollback()
        raise
    return done


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file it is that has this name now."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _make_folder(folder: Path) -> None:
    """Make the folder, and keep it out of version control."""
    folder.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError), (folder / ".gitignore").open("x", encoding="utf-8") as file:
        file.write("*\n")
