"""The connection of a process to the database file, and its errors in words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import RLock
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from pytest_fcall.backends.processes.locks import hold_lock
from pytest_fcall.backends.store.database import StoreError
from pytest_fcall.backends.store.rows import read_rescued, rescued_beside
from pytest_fcall.backends.store.sqlite.repair import PAGE_SIZE, copy_readable, copy_records, is_truncated, set_aside
from pytest_fcall.backends.store.sqlite.tables import NewerVersion, migrate
from pytest_fcall.core.files import create_private, make_private_folder

TIMEOUT = 30.0
"""Seconds to wait for other processes, whose transactions take milliseconds."""

_MESSAGES: Mapping[int, str] = MappingProxyType(
    {
        sqlite3.SQLITE_FULL: "the disk is full; free some space and run again",
        sqlite3.SQLITE_IOERR: "reading or writing failed; check whether the disk is full or failing",
        sqlite3.SQLITE_READONLY: "no permission to write the file or its folder",
        sqlite3.SQLITE_PERM: "no permission to read the file",
        sqlite3.SQLITE_CANTOPEN: "the file cannot be opened or created",
        sqlite3.SQLITE_BUSY: "another program has locked it for too long",
        sqlite3.SQLITE_LOCKED: "another program has locked it for too long",
    }
)
_DAMAGE = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
"""Errors that our statements cause only in a file that is not as we wrote it."""
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""Exceptions that a statement may raise. Python reads the text of an error, which quotes the file, as UTF-8."""

Result = TypeVar("Result")
FileWork: TypeAlias = Callable[[sqlite3.Connection], Result]


def store_error(path: Path, error: Exception) -> StoreError:
    """The error as a message for the person whose store is `path`."""
    if isinstance(error, sqlite3.Error):
        reason = _MESSAGES.get(_error_code(error), str(error))
    else:
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    return StoreError(f"recorded replies in {path}: {reason}")


def is_damage(path: Path, error: sqlite3.Error | UnicodeDecodeError) -> bool:
    """Whether the error means a damaged file, as opposed to a busy, full or protected one."""
    if isinstance(error, UnicodeDecodeError):  # Python cannot read the text of the error, which quotes the file
        return True
    code = _error_code(error)
    # A damaged header may say that the file is read-only.
    return code in _DAMAGE or (code == sqlite3.SQLITE_READONLY and os.access(path, os.W_OK))


def _error_code(error: sqlite3.Error) -> int:
    """The primary code; 0 for errors that Python itself raises."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


class DatabaseFile:
    """A database file that many threads and processes share. It is opened at first use, and repaired if damaged.

    `on_fault` is called with a message for people after a repair. After a fork, the child opens a connection of its
    own, and keeps the inherited one alive, because it may neither use nor close it.
    """

    def __init__(self, path: Path, on_fault: Callable[[str], None]) -> None:
        self._path = path
        self._patience = TIMEOUT
        """Seconds to wait for other processes; none once one of them kept us waiting for so long."""
        self._on_fault = on_fault
        self._lock = RLock()
        self._connection: sqlite3.Connection | None = None
        self._opened_file: tuple[int, int] | None = None
        self._process = os.getpid()
        self._inherited: sqlite3.Connection | None = None

    @property
    def exists(self) -> bool:
        """Whether there is a file to read."""
        return self._connection is not None or self._path.exists()

    def read(self, work: FileWork[Result]) -> Result:
        """Do `work`, which must change nothing. Raises StoreError."""
        with self._lock:
            return self._with_repair(lambda: work(self._connect()))

    def write(self, work: FileWork[Result]) -> Result:
        """Do `work` in one transaction, which is in the file when this returns. Raises StoreError.

        If another process has set the file aside meanwhile, `work` is repeated in the new file.
        """
        with self._lock:
            while True:
                result = self._with_repair(lambda: _transaction(self._connect(), work))
                if self._opened_file == _identity(self._path):
                    return result
                self._disconnect()

    def shrink(self) -> None:
        """Give unused space back to the disk, unless other processes use the file."""
        with self._lock, suppress(sqlite3.Error):
            self._connect().execute("VACUUM")

    def close(self) -> None:
        """Close the file. The next call opens it again."""
        with self._lock:
            self._disconnect()

    def _with_repair(self, work: Callable[[], Result]) -> Result:
        try:
            try:
                return work()
            except _SQLITE_ERRORS as error:
                if not is_damage(self._path, error):
                    raise
                self._set_aside()
                return work()
        except sqlite3.OperationalError as error:
            if _error_code(error) in _BUSY:
                self._be_impatient()
            raise store_error(self._path, error) from error
        except (*_SQLITE_ERRORS, OSError) as error:
            raise store_error(self._path, error) from error

    def _be_impatient(self) -> None:
        """Wait no more: what has locked the file for so long is likely to go on, and each reply would wait anew."""
        self._patience = 0.0
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.execute("PRAGMA busy_timeout = 0")

    def _connect(self) -> sqlite3.Connection:
        if self._process != os.getpid():
            self._inherited, self._connection = self._connection, None
            self._process = os.getpid()
        if self._connection is None:
            make_private_folder(self._path.parent)
            with hold_lock(self._lock_file, self._patience):
                create_private(self._path)
                self._connection = self._open_or_repair()
                self._opened_file = _identity(self._path)
        return self._connection

    @property
    def _lock_file(self) -> Path:
        """Locked while the file is opened or set aside, so that no process opens a file that is half moved."""
        return self._path.with_name(f"{self._path.name}.lock")

    def _open_or_repair(self) -> sqlite3.Connection:
        if is_truncated(self._path):
            set_aside(self._path)
        try:
            connection = _open(self._path, self._patience)
        except _SQLITE_ERRORS as error:
            if not is_damage(self._path, error):
                raise
            set_aside(self._path)
            create_private(self._path)
            connection = _open(self._path, self._patience)
        for message in copy_readable(connection, self._path):
            self._on_fault(message)
        for rescued in rescued_beside(self._path):
            with suppress(sqlite3.Error, OSError):  # they wait for the next time
                take_in(connection, rescued)
        return connection

    def _set_aside(self) -> None:
        """Set the file aside, unless another process has done so since it was opened."""
        self._disconnect()
        with hold_lock(self._lock_file, self._patience):
            if self._opened_file == _identity(self._path):
                set_aside(self._path)

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None


def _open(path: Path, timeout: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")  # damaged text must not raise
        connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint = 8000")
        connection.execute("PRAGMA cache_size = -8000")
        migrate(connection)
    except NewerVersion:
        connection.close()
        raise StoreError(f"recorded replies in {path}: a newer pytest-fcall wrote them; update this one") from None
    except BaseException:  # Ctrl+C, too
        connection.close()
        raise
    return connection


def take_in(connection: sqlite3.Connection, rescued: Path) -> int:
    """Copy the rows of a file into the database, remove the file, and return the number of replies. Raises OSError."""
    replies = copy_records(connection, read_rescued(rescued))
    rescued.unlink(missing_ok=True)  # the process that wrote it may have found room for them meanwhile
    return replies


def _transaction(connection: sqlite3.Connection, work: FileWork[Result]) -> Result:
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:  # Ctrl+C, too
        with suppress(sqlite3.Error):
            connection.rollback()
        raise
    return result


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of the file that has this name now."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino
