"""The store's database as a file, for the processes of one machine, and the claims in it."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from pytest_fcall.backends.processes.ledger import FileLedger, ledger_path
from pytest_fcall.backends.processes.locks import lock
from pytest_fcall.backends.recordings.line import catalogue_line
from pytest_fcall.backends.store.database import CaseOfFile, ClaimResult, NewRows, RowSelection, StoreError
from pytest_fcall.backends.store.rows import Tools, read_catalogue
from pytest_fcall.backends.store.sqlite import tables
from pytest_fcall.backends.store.sqlite.file import DatabaseFile, take_in
from pytest_fcall.core.json_data import DamagedData


class FileDatabase:
    """A database file. It is created with the first reply, and mended if damaged; `on_fault` is told of it."""

    remote: Final = None

    def __init__(self, path: Path, on_fault: Callable[[str], None]) -> None:
        self._path = path
        self._file = DatabaseFile(path, on_fault)
        self._claims = Claims(path, self._file)
        self._catalogues = _ToolCatalogues()

    @property
    def place(self) -> str:
        """The path."""
        return str(self._path)

    @property
    def folder(self) -> Path:
        """The folder of the file."""
        return self._path.parent

    @property
    def exists(self) -> bool:
        """Whether there is a file."""
        return self._file.exists

    @property
    def size(self) -> int:
        """The bytes of the file."""
        return self._path.stat().st_size

    def now(self) -> float:
        """The time of this machine."""
        return time.time()

    def select(self, selection: RowSelection, *values: object) -> list[tuple[Any, ...]]:
        """Select rows; there are none without a file."""
        if not self.exists:
            return []
        statement = tables.SELECTIONS[selection]
        bound = [json.dumps(value) if isinstance(value, list) else value for value in values]
        return self._file.read(lambda connection: connection.execute(statement, bound).fetchall())

    def tools(self, catalogue: str) -> Tools:
        """Read a catalogue, once."""
        return self._file.read(lambda connection: self._catalogues.get(connection, catalogue))

    def put(self, rows: NewRows) -> None:
        """Write rows in one transaction."""

        def work(connection: sqlite3.Connection) -> None:
            for catalogue, tools in rows.catalogues.items():
                self._catalogues.put(connection, catalogue, tools)
            connection.executemany(tables.PUT_USE, rows.uses)
            connection.executemany(tables.PUT_REPLY, rows.replies)
            connection.executemany(tables.END_CLAIM, [(digest,) for digest in rows.answered])

        self._file.write(work)

    def put_newer(self, rows: NewRows) -> int:
        """Write replies where they are newer."""

        def work(connection: sqlite3.Connection) -> int:
            for catalogue, tools in rows.catalogues.items():
                self._catalogues.put(connection, catalogue, tools)
            written = sum(connection.execute(tables.PUT_NEWER_REPLY, row).rowcount for row in rows.replies)
            connection.executemany(tables.PUT_FIRST_USE, rows.uses)
            return written

        return self._file.write(work)

    def move(self, file: str, new_file: str, case: str | None, new_case: str | None) -> None:
        """Rename in the uses."""
        names = {"file": file, "new_file": new_file, "case": case, "new_case": new_case}
        if self.exists:
            self._file.write(lambda connection: connection.execute(tables.MOVE_USES, names))

    def prune(self, wanted: Callable[[str], bool], before: float | None, gone: Collection[CaseOfFile]) -> int:
        """Delete uses, and what nobody uses then; give the room back to the disk."""

        def work(connection: sqlite3.Connection) -> int:
            files = connection.execute("SELECT DISTINCT file FROM uses").fetchall()
            unwanted = [(file,) for (file,) in files if not (isinstance(file, str) and wanted(file))]
            connection.executemany("DELETE FROM uses WHERE file = ?", unwanted)
            connection.executemany(tables.FORGET_CASE, gone)
            if before is None:
                connection.execute(tables.FORGET_EARLIER_RUNS)
            else:
                connection.execute(tables.FORGET_UNUSED, {"before": before})
            deleted = connection.execute(tables.FORGET_REPLIES).rowcount
            connection.execute(tables.FORGET_CATALOGUES)
            return deleted

        if not self.exists:
            return 0
        deleted = self._file.write(work)
        self._file.shrink()
        return deleted

    def claim(self, digest: str, owner: str, since: float) -> ClaimResult:
        """Claim a request, unless a living process has."""
        if not self._claims.claim(digest, owner):
            return ClaimResult(ours=False, replies=())
        # Another process may have stored the reply just before this one got the claim.
        return ClaimResult(ours=True, replies=self.select(RowSelection.FIND, digest, since))

    def release(self, digest: str, owner: str) -> None:
        """Release a claim."""
        if self.exists:
            self._claims.release(digest, owner)

    def try_out(self) -> None:
        """Open the file, lock it and write to it."""
        self._file.write(lambda connection: [connection.execute(each) for each in tables.TRY_OUT])

    def take_in(self, rescued: Path) -> int:
        """Take in a file of replies."""
        return self._file.read(lambda connection: take_in(connection, rescued))

    def ledger(self, run: str, /) -> FileLedger:
        """A file of the run's own, beside the database."""
        return FileLedger(ledger_path(self.folder, run))

    def close(self) -> None:
        """Close the file."""
        self._claims.close()
        self._file.close()


class _ToolCatalogues:
    """The table of tool catalogues. Each catalogue is read or written once."""

    def __init__(self) -> None:
        self._tools: dict[str, Tools] = {}

    def put(self, connection: sqlite3.Connection, digest: str, tools: Tools) -> None:
        """Write the catalogue unless it is in the table and undamaged."""
        if not self._is_stored(connection, digest):
            connection.execute(
                "INSERT OR REPLACE INTO catalogues VALUES (?, ?)", (digest, catalogue_line(digest, tools).encode())
            )
            self._tools[digest] = tools

    def _is_stored(self, connection: sqlite3.Connection, digest: str) -> bool:
        """A catalogue that was read before is undamaged, but another process may have deleted it."""
        if digest in self._tools:
            return connection.execute("SELECT 1 FROM catalogues WHERE digest = ?", (digest,)).fetchone() is not None
        with suppress(DamagedData):
            self.get(connection, digest)
        return digest in self._tools

    def get(self, connection: sqlite3.Connection, digest: str) -> Tools:
        """Read a catalogue. Raises DamagedData if it is missing or was changed."""
        if digest not in self._tools:
            row = connection.execute("SELECT tools FROM catalogues WHERE digest = ?", (digest,)).fetchone()
            if row is None:
                raise DamagedData("the tools of a reply are missing")
            self._tools[digest] = read_catalogue(digest, row[0])
        return self._tools[digest]


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
