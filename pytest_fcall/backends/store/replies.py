"""The store of replies, and the claims by which only one process sends a request."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from pytest_fcall.backends.processes.locks import lock
from pytest_fcall.backends.recordings.entry import Recording, UnreadRecording
from pytest_fcall.backends.store import tables
from pytest_fcall.backends.store.database import Database, Result, StoreError, Work
from pytest_fcall.backends.store.rescued import rescue, take_in
from pytest_fcall.backends.store.tables import Row, Selection, ToolCatalogues, Tools, from_row, storable, to_row
from pytest_fcall.core import Fault, Location, Request
from pytest_fcall.core.json_fields import DamagedData
from pytest_fcall.core.private_files import NAME
from pytest_fcall.core.secrets import Secrets

_PROCESS_BYTES = 8
_PROCESS = re.compile(rf"[0-9a-f]{{{2 * _PROCESS_BYTES}}}")
"""The name of a process that claims requests."""


def store_path(root: Path) -> Path:
    """The database file of the project in `root`."""
    return root / NAME / "replies.db"


class StoredReply(NamedTuple):
    """A recorded reply, its model, and the file of its case."""

    model: str
    file: str
    """The path from the root, with slashes."""
    entry: Recording


class NewReply(NamedTuple):
    """A reply to store, its model, and the file of its case, as in `StoredReply`."""

    model: str
    file: str
    entry: Recording | UnreadRecording


class ModelStats(NamedTuple):
    """Numbers of the stored replies and files of one model. Times are seconds since 1970."""

    model: str
    replies: int
    files: int
    oldest: float
    newest: float


class ReplyStore:
    """Replies in a SQLite database, for many threads and processes.

    The file is created with the first reply. Damaged data is reported in `faults` and never returned as a reply.
    """

    def __init__(self, path: Path, secrets: Secrets | None = None) -> None:
        self._path = path
        self._secrets = Secrets() if secrets is None else secrets
        self._run = time.time_ns() // 1_000
        self._database = Database(path, self._add_fault)
        self._claims = Claims(path, self._database)
        self._catalogues = ToolCatalogues()
        self._loaded: dict[str, Row] = {}
        self._uses: deque[tuple[str, str, str, str]] = deque()
        self._faults: dict[str, Fault] = {}

    @property
    def path(self) -> Path:
        """The database file."""
        return self._path

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The damage and the reading errors so far."""
        return tuple(self._faults.values())

    def load(self, digests: Iterable[str]) -> set[str]:
        """Read all replies to these digests at once, for the calls of `find` that follow; return those with a reply."""
        self._loaded = {row[0]: Row(*row) for row in self._rows(tables.LOAD, json.dumps([*digests]))}
        return {*self._loaded}

    def find(self, digest: str, since: float = -inf, request: Request | None = None) -> Recording | None:
        """Return the reply to the request with this digest, unless it was recorded before `since`.

        With `request`, which the digest names, neither the stored request nor its tools are read.
        """
        row = self._loaded.get(digest)
        if row is None or row.recorded < since:  # another process may have stored a newer one
            row = next((Row(*values) for values in self._rows(tables.FIND, digest, since)), None)
        return None if row is None else self._recording(row, request)

    def put(self, model: str, file: str, entry: Recording) -> None:
        """Write a reply, in the place of an earlier one to the same request, and end the claim to it.

        `file` is the path of the case's file from the root, with slashes. Raises StoreError; a reply that is not valid
        JSON data is reported in `faults`.
        """
        self.put_all([NewReply(model, file, entry)])

    def put_all(self, replies: Iterable[NewReply]) -> None:
        """Write several replies in one transaction, as `put` does. Raises StoreError if none was written."""
        digests, rows, catalogues, uses = [], [], dict[str, Tools](), []
        for model, file, entry in replies:
            digests.append((storable(entry.digest),))
            self._loaded.pop(entry.digest, None)
            if row := self._row(model, file, entry):
                rows.append(row)
                catalogues[row.catalogue] = entry.request.tools
                uses.append((model, file, entry.case, entry.digest))
        self._uses += uses

        def work(connection: sqlite3.Connection) -> None:
            for catalogue, tools in catalogues.items():
                self._catalogues.put(connection, catalogue, tools)
            connection.executemany(tables.PUT_REPLY, rows)
            connection.executemany(tables.END_CLAIM, digests)

        self._write_with_uses(work)

    def try_out(self) -> None:
        """Open the file, lock it and write to it. Raises StoreError if no reply could be written."""
        self._database.write(lambda connection: [connection.execute(each) for each in tables.TRY_OUT])

    def rescue(self, replies: Iterable[NewReply]) -> Path:
        """Write replies that the database cannot take into a file apart, and return it. Raises OSError.

        The database takes it in once it can, if it lies beside it.
        """
        rows, catalogues = [], dict[str, Tools]()
        for model, file, entry in replies:
            if row := self._row(model, file, entry):
                rows.append(row)
                catalogues[row.catalogue] = entry.request.tools
        return rescue(self._path, rows, catalogues)

    def take_in(self, rescued: Path) -> int:
        """Take in a file of `rescue`, remove it, and return the number of its replies. Raises StoreError."""
        return self._database.read(lambda connection: take_in(connection, rescued))

    def note_use(self, model: str, file: str, case: str, digest: str) -> None:
        """Note that this run answered a case by a recording. Written later, together with others.

        `last_uses` returns the uses of a case's last run; `prune` deletes replies that no last run used.
        """
        self._uses.append((model, file, case, digest))

    def nearest(self, model: str, case_file: str, case: str, sample: int = 0) -> Recording | None:
        """Return a reply to another request of this case, preferably of the same sample."""
        rows = self._rows(tables.NEAREST, storable(model), storable(case_file), storable(case), sample)
        entry = self._recording(Row(*rows[0])) if rows else None
        return replace(entry, case=case) if entry else None

    def files(self, model: str | None = None, file: str | None = None) -> list[tuple[str, str]]:
        """The pairs of model and file that have replies, sorted."""
        return self._rows(tables.FILES, model and storable(model), file and storable(file))

    def replies(self, model: str | None = None, file: str | None = None) -> Iterator[StoredReply]:
        """The replies of each case, sorted; of one model, of one file, or all."""
        for row_model, row_file in self.files(model, file):
            last = before = "", ""
            while rows := self._rows(tables.REPLIES_OF_FILE, row_model, row_file, *last):
                for case, digest, *values in rows:
                    last = case, digest
                    if entry := self._recording(Row(*values)):
                        yield StoredReply(row_model, row_file, replace(entry, case=case))
                if last <= before:  # a damaged index is in no order
                    break
                before = last

    def last_uses(self, model: str, file: str) -> dict[str, set[str]]:
        """The digests that the last run of each case used, for the cases that ran with this store."""
        digests: dict[str, set[str]] = {}
        for case, digest in self._rows(tables.LAST_USES, storable(model), storable(file)):
            digests.setdefault(case, set()).add(digest)
        return digests

    def import_newer(self, model: str, file: str, entries: Iterable[Recording]) -> int:
        """Write replies that were recorded elsewhere and are newer than ours; return how many. Raises StoreError.

        A reply that is not valid JSON data is reported in `faults`.
        """
        self._loaded.clear()
        rows = [(row, entry) for entry in entries if (row := self._row(model, file, entry))]

        def work(connection: sqlite3.Connection) -> int:
            imported = 0
            for row, entry in rows:
                self._catalogues.put(connection, row.catalogue, entry.request.tools)
                imported += connection.execute(tables.PUT_NEWER_REPLY, row).rowcount
                connection.execute(tables.PUT_FIRST_USE, (row.model, row.file, storable(entry.case), row.digest))
            return imported

        return self._database.write(work) if rows else 0

    def move(self, file: str, new_file: str, case: str | None = None, new_case: str | None = None) -> None:
        """Have the replies of a file, or of one of its cases, belong to another one. Raises StoreError."""
        names = {"file": file, "new_file": new_file, "case": case, "new_case": new_case}
        if self._database.exists:
            self._database.write(lambda connection: connection.execute(tables.MOVE_USES, names))

    def prune(self, wanted: Callable[[str], bool], before: float | None = None) -> int:
        """Delete replies for files that are not `wanted`, and replies that no case needs; return how many.

        A case needs the replies that its last run used or, with `before`, the replies that were recorded or used since
        that time, in seconds since 1970. Raises StoreError.
        """
        self._loaded.clear()
        if not self._database.exists:
            return 0

        def work(connection: sqlite3.Connection) -> int:
            files = connection.execute("SELECT DISTINCT file FROM uses").fetchall()
            unwanted = [(file,) for (file,) in files if not (isinstance(file, str) and wanted(file))]
            connection.executemany("DELETE FROM uses WHERE file = ?", unwanted)
            if before is None:
                connection.execute(tables.FORGET_EARLIER_RUNS)
            else:
                connection.execute(tables.FORGET_UNUSED, {"before": before})
            deleted = connection.execute(tables.FORGET_REPLIES).rowcount
            connection.execute(tables.FORGET_CATALOGUES)
            return deleted

        deleted = self._write_with_uses(work)
        self._database.shrink()
        return deleted

    def stats(self) -> list[ModelStats]:
        """The numbers of each model."""
        return [ModelStats(*row) for row in self._rows(tables.STATS)]

    def claim(self, digest: str, owner: str) -> bool:
        """Claim the request for `owner`; False if another living process holds the claim."""
        return self._claims.claim(digest, owner)

    def release(self, digest: str, owner: str) -> None:
        """Release a claim without a reply; `put` ends it itself. Raises StoreError."""
        if self._database.exists:
            self._claims.release(digest, owner)

    def flush(self) -> None:
        """Write the uses that were noted."""
        if self._uses and self._database.exists:
            try:
                self._write_with_uses(lambda _: None)
            except StoreError as error:
                self._add_fault(str(error))

    def close(self) -> None:
        """Write the uses that were noted, and close the file. The next call opens it again."""
        self.flush()
        self._claims.close()
        self._database.close()

    def _write_with_uses(self, work: Work[Result]) -> Result:
        uses = [(*map(storable, self._uses.popleft()), self._run) for _ in range(len(self._uses))]

        def all_work(connection: sqlite3.Connection) -> Result:
            connection.executemany(tables.PUT_USE, uses)
            return work(connection)

        return self._database.write(all_work)

    def _rows(self, selection: Selection, *values: object) -> list[Any]:
        """Select rows. An error is reported in `faults` and gives none: then the request is sent again."""
        if not self._database.exists:
            return []
        try:
            rows = self._database.read(lambda connection: connection.execute(selection.statement, values).fetchall())
        except StoreError as error:
            self._add_fault(str(error))
            return []
        whole = [row for row in rows if selection.is_whole(row)]
        if len(whole) < len(rows):
            self._add_fault(f"recorded replies in {self._path}: a row was changed on the disk, and is passed over")
        return whole

    def _row(self, model: str, file: str, entry: Recording | UnreadRecording) -> Row | None:
        """The recording as a row; None, and a fault, if it is not valid JSON data or cannot be freed of a secret."""
        try:
            if isinstance(entry, UnreadRecording) and self._secrets:
                # Late: finding this out takes what reads the interfaces that apps speak.
                from pytest_fcall.backends.recordings.hidden_secrets import WHY_NOT_KEPT, hides_secret

                if hides_secret(entry, self._secrets):
                    self._add_fault(f"the answer to a request of {entry.case!r} is not kept: {WHY_NOT_KEPT}")
                    return None
            return to_row(model, file, entry, self._secrets)
        except (TypeError, ValueError, RecursionError) as error:
            self._add_fault(str(error))
            return None

    def _recording(self, row: Row, request: Request | None = None) -> Recording | None:
        """The recording in a row; None, and a fault, if the row is damaged."""
        try:
            return from_row(row, () if request is not None else self._tools(row.catalogue), request)
        except DamagedData as damaged:
            self._add_fault(f"recorded replies in {self._path}: {damaged}; the request will be sent again")
            return None

    def _tools(self, catalogue: str) -> Tools:
        """The tools of a reply; none, and a fault, if they are lost: the reply is still good."""
        try:
            return self._database.read(lambda connection: self._catalogues.get(connection, catalogue))
        except (StoreError, DamagedData) as error:
            self._add_fault(f"recorded replies in {self._path}: {error}")
            return ()

    def _add_fault(self, message: str) -> None:
        self._faults.setdefault(message, Fault("damaged-replies", Location(str(self._path)), message))


class Claims:
    """Claims that end with their process, however it ends: each process holds a lock as long as it lives."""

    def __init__(self, path: Path, database: Database) -> None:
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
