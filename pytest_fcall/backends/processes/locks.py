"""Locks between processes, which end with the process that holds them however it ends.

Each is a transaction on an empty database, so that one library knows how every system locks files.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path


def lock(path: Path, patience: float) -> sqlite3.Connection:
    """Lock `path`, a file of its own, until the connection is closed. Raises OperationalError when patience ends."""
    connection = sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = MEMORY")  # a full disk must keep nobody from reading
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


@contextmanager
def locked(path: Path, patience: float) -> Iterator[None]:
    """Hold the lock for a while."""
    with closing(lock(path, patience)):
        yield
