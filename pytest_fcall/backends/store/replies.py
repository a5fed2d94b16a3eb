"""The store of replies, and the claims by which only one process sends a request."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from pytest_fcall.backends.processes.locks import lock
from pytest_fcall.backends.recordings.entry import Recording, UnreadRecording
from pytest_fcall.backends.store import tables
from pytest_fcall.backends.store.database import Database, StoreError, Work
from pytest_fcall.backends.store.tables import Row, ToolCatalogues, from_row, storable, to_row
from pytest_fcall.core import Fault, Location, Request, Tool, catalogue_digest
from pytest_fcall.core.json_fields import DamagedData


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


Result = TypeVar("Result")


def store_path(root: Path) -> Path:
    """Where the replies of the project in `root` are kept."""
    return root / ".fcall" / "replies.db"


class Kept(NamedTuple):
    """A recorded reply, of whom, and for which file."""

    model: str
    file: str
    """The path from the root, with slashes."""
    entry: Recording


New: TypeAlias = tuple[str, str, Recording | UnreadRecording]
"""A reply to keep, after whose it is and the file that asked, as in `Kept`."""


@dataclass(frozen=True, slots=True)
class ModelStats:
    """What is kept of one model. Times are seconds since 1970."""

    model: str
    replies: int
    files: int
    oldest: float
    newest: float


class ReplyStore:
    """Replies in a SQLite database, written as they come; safe with many threads and processes.

    Nothing is opened before it is needed, and no file is made before there is something to keep. What is damaged is
    told in `faults`, and never taken for a reply.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._run = time.time_ns() // 1_000
        self._database = Database(path, self._tell)
        self._claims = Claims(path, self._database)
        self._catalogues = ToolCatalogues()
        self._uses: deque[tuple[str, str, str, str, int]] = deque()
        self._told: dict[str, Fault] = {}

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What was found damaged, or could not be read, so far."""
        return tuple(self._told.values())

    def find(self, digest: str, since: float = -inf, request: Request | None = None) -> Recording | None:
        """Return the reply to the request of this digest, unless it was recorded before `since`.

        Who has the request gets the same one back, and its tools need not be read.
        """
        rows = self._rows(tables.FIND, digest, since)
        return self._entry(rows[0], request) if rows else None

    def known(self, digests: Iterable[str]) -> set[str]:
        """Those of the digests that there is a reply to, at whatever time."""
        return {digest for (digest,) in self._rows(tables.KNOWN, json.dumps([*digests]))}

    def keep(self, model: str, file: str, entry: Recording) -> None:
        """Write a reply for good, in the place of an earlier one to the same request; its claim ends.

        `file` is the path of the file that asked, from the root and with slashes. Raises StoreError; a reply that JSON
        cannot say is told in `faults`.
        """
        self.keep_all([Kept(model, file, entry)])

    def keep_all(self, replies: Iterable[New]) -> None:
        """Write all of these that JSON can say or, raising StoreError, none."""
        kept = [*replies]
        rows = [(row, entry) for model, file, entry in kept if (row := self._row(model, file, entry))]
        catalogues = {row.catalogue: entry.request.tools for row, entry in rows}
        self._uses += [(row.model, row.file, storable(entry.case), row.digest, self._run) for row, entry in rows]

        def work(connection: sqlite3.Connection) -> None:
            for catalogue, tools in catalogues.items():
                self._catalogues.put(connection, catalogue, tools)
            connection.executemany(tables.PUT, [row for row, _ in rows])
            connection.executemany(tables.END_CLAIM, [(storable(entry.digest),) for *_, entry in kept])

        self._write_with_uses(work)

    def used(self, model: str, file: str, case: str, digest: str) -> None:
        """Note that this run answered a case by a recorded reply, from here or from a file. Costs next to nothing.

        What the last run of a case used is what is exported, and what no run uses any more may be forgotten.
        """
        self._uses.append((storable(model), storable(file), storable(case), storable(digest), self._run))

    def nearest(self, model: str, case_file: str, case: str, sample: int = 0) -> Recording | None:
        """Return what was recorded for this case when it asked something else, best of the same sample."""
        rows = self._rows(tables.NEAREST, storable(model), storable(case_file), storable(case), sample)
        entry = self._entry(rows[0]) if rows else None
        return replace(entry, case=case) if entry else None

    def files(self, model: str | None = None, file: str | None = None) -> list[tuple[str, str]]:
        """Which models and files there is anything of, sorted."""
        return self._rows(tables.FILES, model and storable(model), file and storable(file))

    def replies(self, model: str | None = None, file: str | None = None) -> Iterator[Kept]:
        """All that is kept for each case, sorted; of one model, of one file, or of all."""
        for of, where in self.files(model, file):
            last = "", ""
            while rows := self._rows(tables.PORTION, of, where, *last):
                for case, digest, *row in rows:
                    last = case, digest
                    if entry := self._entry(row):
                        yield Kept(of, where, replace(entry, case=case))

    def last_used(self, model: str, file: str) -> dict[str, set[str]]:
        """The digests of the replies that the last run of each case used, of cases that ran with this store."""
        found: dict[str, set[str]] = {}
        for case, digest in self._rows(tables.LAST_USED, storable(model), storable(file)):
            found.setdefault(case, set()).add(digest)
        return found

    def take(self, model: str, file: str, entries: Iterable[Recording]) -> int:
        """Take over replies that were recorded elsewhere, where they are newer; how many were. Raises StoreError.

        One that cannot be kept is told in `faults`.
        """
        rows = [(row, entry) for entry in entries if (row := self._row(model, file, entry))]

        def work(connection: sqlite3.Connection) -> int:
            taken = 0
            for row, entry in rows:
                self._catalogues.put(connection, row.catalogue, entry.request.tools)
                taken += connection.execute(tables.PUT_NEWER, row).rowcount
                connection.execute(tables.USE_ONCE, (row.model, row.file, storable(entry.case), row.digest))
            return taken

        return self._database.write(work) if rows else 0

    def prune(self, wanted: Callable[[str], bool], before: float | None = None) -> int:
        """Forget replies for files that are not `wanted`, and what no case needs; how many were forgotten.

        Needed is what the last run of a case used; with `before`, what was recorded or used since then, in seconds
        since 1970. Raises StoreError.
        """
        if not self._database.exists:
            return 0

        def work(connection: sqlite3.Connection) -> int:
            files = connection.execute("SELECT DISTINCT file FROM uses").fetchall()
            connection.executemany("DELETE FROM uses WHERE file = ?", [key for key in files if not wanted(key[0])])
            if before is None:
                connection.execute(tables.FORGET_EARLIER_RUNS)
            else:
                connection.execute(tables.FORGET_UNUSED, {"before": before})
            forgotten = connection.execute(tables.FORGET_REPLIES).rowcount
            connection.execute(tables.FORGET_CATALOGUES)
            return forgotten

        forgotten = self._write_with_uses(work)
        self._database.shrink()
        return forgotten

    def stats(self) -> list[ModelStats]:
        """What is kept, model by model."""
        return [ModelStats(*row) for row in self._rows(tables.STATS)]

    def claim(self, digest: str, owner: str) -> bool:
        """Whether `owner` is the one to ask for this reply; else another one that lives is asking."""
        return self._claims.claim(digest, owner)

    def release(self, digest: str, owner: str) -> None:
        """Give a claim up, so that others may ask; `keep` does so itself. Raises StoreError."""
        if self._database.exists:
            self._claims.release(digest, owner)

    def flush(self) -> None:
        """Write what was held back."""
        if self._uses and self._database.exists:
            try:
                self._write_with_uses(lambda _: None)
            except StoreError as error:
                self._tell(str(error))

    def close(self) -> None:
        """Write what was held back, and let go of the file. The next call opens it again."""
        self.flush()
        self._claims.close()
        self._database.close()

    def _write_with_uses(self, work: Work[Result]) -> Result:
        uses = [self._uses.popleft() for _ in range(len(self._uses))]

        def all_work(connection: sqlite3.Connection) -> Result:
            connection.executemany(tables.USE, uses)
            return work(connection)

        return self._database.write(all_work)

    def _rows(self, statement: str, *values: object) -> list[Any]:
        """Read, and be content with nothing where nothing can be read: then a model is asked again."""
        if not self._database.exists:
            return []
        try:
            return self._database.read(lambda connection: connection.execute(statement, values).fetchall())
        except StoreError as error:
            self._tell(str(error))
            return []

    def _row(self, model: str, file: str, entry: Recording | UnreadRecording) -> Row | None:
        """The reply as a row; None where JSON cannot say it, which is told: it concerns no other."""
        try:
            return to_row(model, file, entry, catalogue_digest(entry.request.tools))
        except (TypeError, ValueError, RecursionError) as error:
            self._tell(str(error))
            return None

    def _entry(self, values: Iterable[Any], request: Request | None = None) -> Recording | None:
        """The reply in a row; None where the row is damaged, which is told."""
        row = Row(*values)
        try:
            if request is not None:
                return replace(from_row(row, ()), request=request)
            return from_row(row, self._tools_of(row.catalogue))
        except DamagedData as damaged:
            self._tell(f"recorded replies in {self._path}: {damaged}; its case will be asked again")
            return None

    def _tools_of(self, catalogue: str) -> tuple[Tool, ...]:
        """The tools of a reply, which still is one where they are lost."""
        try:
            return self._database.read(lambda connection: self._catalogues.get(connection, catalogue))
        except (StoreError, DamagedData) as error:
            self._tell(f"recorded replies in {self._path}: {error}")
            return ()

    def _tell(self, sentence: str) -> None:
        self._told.setdefault(sentence, Fault("damaged-replies", Location(str(self._path)), sentence))
