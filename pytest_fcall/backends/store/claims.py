"""Which process asks for a reply while the others wait for it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from pytest_fcall.backends.store.database import Database
from pytest_fcall.backends.store.errors import StoreError
from pytest_fcall.backends.store.locks import lock


class Claims:
    """Claims that end with their process, however it ends: each process holds a lock for as long as it lives."""

    def __init__(self, path: Path, database: Database) -> None:
        self._path = path
        self._database = database
        self._process = os.urandom(8).hex()
        self._held: sqlite3.Connection | None = None

    def claim(self, digest: str, owner: str) -> bool:
        """Whether `owner` may ask now. Where nobody can be told of it, everybody may."""
        try:
            holder = self._database.read(lambda connection: _holder(connection, digest))
            if holder == (owner, self._process):
                return True
            if holder is not None and self._lives(holder[1]):
                return False
            self._live()
            return self._database.write(lambda connection: self._take(connection, digest, owner, holder))
        except (StoreError, sqlite3.Error, OSError):
            return True

    def release(self, digest: str, owner: str) -> None:
        """Let others ask, if `owner` holds the claim."""
        self._database.write(
            lambda connection: connection.execute(
                "DELETE FROM claims WHERE digest = ? AND owner = ? AND process = ?", (digest, owner, self._process)
            )
        )

    def close(self) -> None:
        """End all claims of this process."""
        if self._held is not None:
            self._held.close()
            self._held = None
            with suppress(OSError):  # on Windows another process may be looking at it
                self._file(self._process).unlink(missing_ok=True)

    def _take(self, connection: sqlite3.Connection, digest: str, owner: str, holder: tuple[str, str] | None) -> bool:
        """Take what nobody has taken since `holder`, who is dead, was seen."""
        if _holder(connection, digest) != holder:
            return False
        connection.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", (digest, owner, self._process))
        return True

    def _live(self) -> None:
        if self._held is None:
            self._held = lock(self._file(self._process), patience=0)

    def _lives(self, process: str) -> bool:
        if process == self._process:
            return self._held is not None
        file = self._file(process)
        if not file.exists():
            return False
        try:
            lock(file, patience=0).close()
        except sqlite3.Error:
            return True
        file.unlink(missing_ok=True)
        return False

    def _file(self, process: str) -> Path:
        return self._path.with_name(f"{self._path.name}.{process}.alive")


def _holder(connection: sqlite3.Connection, digest: str) -> tuple[str, str] | None:
    found: tuple[str, str] | None = connection.execute(
        "SELECT owner, process FROM claims WHERE digest = ?", (digest,)
    ).fetchone()
    return found
