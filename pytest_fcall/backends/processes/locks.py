"""Locks between processes. A lock ends with the process that holds it, however the process ends.

Each lock is a transaction on an empty SQLite database: SQLite knows how files are locked on every system.
"""

from __future__ import annotations

import errno
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pytest_fcall.core.files import create_private

_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


def lock(path: Path, timeout: float) -> sqlite3.Connection:
    """Lock `path`, a file of its own, until the returned connection is closed.

    Raises OSError if the file cannot be made, or its file system has no locks, and sqlite3.OperationalError if another
    process holds the lock for longer than `timeout` seconds.
    """
    create_private(path)
    try:
        return _locked_connection(path, 0)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or not timeout:
            raise
    check_locks(path.parent)  # SQLite takes a file system without locks for a busy one, and would wait for nothing
    return _locked_connection(path, timeout)


def _locked_connection(path: Path, timeout: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = MEMORY")  # no journal file: locking must work on a full disk, too
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


@contextmanager
def hold_lock(path: Path, timeout: float) -> Iterator[None]:
    """Hold the lock inside the `with` block."""
    with closing(lock(path, timeout)):
        yield


def check_locks(folder: Path) -> None:
    """Raise OSError if files in this folder cannot be locked, as on some network file systems."""
    if sys.platform == "win32":
        return
    import fcntl

    with tempfile.TemporaryFile(dir=folder) as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            message = (
                f"files in {folder} cannot be locked: its file system has no locks; make it a link to a local folder"
            )
            raise OSError(error.errno, message, str(folder)) from None
