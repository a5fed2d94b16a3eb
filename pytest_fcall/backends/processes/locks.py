"""Locks between processes. A lock ends with the process that holds it, however the process ends.

Each lock is a transaction on an empty SQLite database: SQLite knows how files are locked on every system.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path


def lock(path: Path, timeout: float) -> sqlite3.Connection:
    """Lock `path`, a file of its own, until the returned connection is closed.

    Raises sqlite3.OperationalError if another process holds the lock for longer than `timeout` seconds.
    """
    connection = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = MEMORY")  # no journal file: locking must work on a full disk, too
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


@contextmanager
def locked(path: Path, timeout: float) -> Iterator[None]:
    """Hold the lock inside the `with` block."""
    with closing(lock(path, timeout)):
        yield
