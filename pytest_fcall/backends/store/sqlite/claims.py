"""Claims in a database file. They end with their process, however it ends: it holds a lock as long as it lives."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import suppress
from pathlib import Path

from pytest_fcall.backends.processes.locks import lock
from pytest_fcall.backends.store.database import StoreError
from pytest_fcall.backends.store.sqlite.file import DatabaseFile

_PROCESS_BYTES = 8
_PROCESS = re.compile(rf"[0-9a-f]{{{2 * _PROCESS_BYTES}}}")
"""The name of a process that claims requests."""


class Claims:
    """The claims of this process, and what is known of those of others."""

    def __init__(self, path: Path, database: DatabaseFile) -> None:
        self._path = path
        self._database = database
        self._process = os.urandom(_PROCESS_BYTES).hex()
        self._lock: sqlite3.Connection | None = None

    def claim(self, digest: str, owner: str) -> bool:
        """Whether `owner` may send the request. True for all if the database cannot be used."""
        try:
            holder = self._database.read(lambda connection: _holder(connection, digest))
            if holder == (owner, self._process):
                return True
            if holder is not None and self._is_alive(holder[1]):
                return False
            self._mark_alive()
            return self._database.write(lambda connection: self._take(connection, digest, owner, holder))
        except (StoreError, sqlite3.Error, OSError):
            return True

    def release(self, digest: str, owner: str) -> None:
        """End the claim if `owner` holds it."""
        self._database.write(
            lambda connection: connection.execute(
                "DELETE FROM claims WHERE digest = ? AND owner = ? AND process = ?", (digest, owner, self._process)
            )
        )

    def close(self) -> None:
        """End all claims of this process."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
            with suppress(OSError):  # on Windows, while another process looks at the file
                self._alive_file(self._process).unlink(missing_ok=True)

    def _take(self, connection: sqlite3.Connection, digest: str, owner: str, holder: tuple[str, str] | None) -> bool:
        """Take the claim from `holder`, a dead process, unless another process has done so first."""
        if _holder(connection, digest) != holder:
            return False
        connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", (digest, owner, self._process))
        return True

    def _mark_alive(self) -> None:
        if self._lock is None:
            self._lock = lock(self._alive_file(self._process), timeout=0)

    def _is_alive(self, process: str) -> bool:
        if process == self._process:
            return self._lock is not None
        file = self._alive_file(process)
        if not file.exists():
            return False
        try:
            lock(file, timeout=0).close()
        except sqlite3.Error:
            return True
        file.unlink(missing_ok=True)
        return False

    def _alive_file(self, process: str) -> Path:
        return self._path.with_name(f"{self._path.name}.{process}.alive")


def _holder(connection: sqlite3.Connection, digest: str) -> tuple[str, str] | None:
    """Owner and process that hold the claim. A process is part of a file's name: one that was changed holds nothing."""
    row = connection.execute("SELECT owner, process FROM claims WHERE digest = ?", (digest,)).fetchone()
    match row:
        case (str(owner), str(process)) if _PROCESS.fullmatch(process):
            return owner, process
    return None
