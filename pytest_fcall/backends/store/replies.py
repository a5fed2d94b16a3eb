"""The store of replies, whatever database holds them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_fcall.backends.recordings.entry import Recording, UnreadRecording
from pytest_fcall.backends.store.database import CaseOfFile, Database, NewRows, RowSelection, StoreError, Use
from pytest_fcall.backends.store.rows import RecordingRow, Tools, from_row, rescue, storable, to_row
from pytest_fcall.core.case import Fault, Location
from pytest_fcall.core.files import PRIVATE_FOLDER, make_private_folder
from pytest_fcall.core.json_data import DamagedData
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.secrets import Secrets

if TYPE_CHECKING:
    from pytest_fcall.backends.processes.ledger import Ledger
    from pytest_fcall.backends.store.address import StorePlace


_FILE = "replies.db"


def store_path(root: Path) -> Path:
    """The database file of the project in `root`."""
    return root / PRIVATE_FOLDER / _FILE


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
    """Replies in a database, for many threads and processes.

    Damaged data is reported in `faults` and never returned as a reply.
    """

    def __init__(self, place: StorePlace, secrets: Secrets | None = None) -> None:
        self._secrets = Secrets() if secrets is None else secrets
        self._place = place
        self._database = _database(place, self._add_fault)
        self._loaded: dict[str, RecordingRow] = {}
        self._uses: deque[tuple[str, str, str, str]] = deque()
        self._faults: dict[str, Fault] = {}

    @property
    def place(self) -> str:
        """The place of the replies, in words for people."""
        return self._database.place

    @property
    def is_file(self) -> bool:
        """Whether they are in a file of this host."""
        return isinstance(self._place, Path)

    @property
    def folder(self) -> Path:
        """The folder of replies that the database did not take; it takes them in from there."""
        return self._database.folder

    @property
    def size(self) -> int:
        """The bytes of the database. Raises StoreError."""
        return self._database.size

    def now(self) -> float:
        """The time that all who share the store have, in seconds since 1970; this machine's if it cannot be told."""
        try:
            return self._database.now()
        except StoreError as error:
            self._add_fault(str(error))
            return time.time()

    def ledger(self, run: str) -> Ledger:
        """The ledger of a run, or of all runs, in which all processes that share the store count together."""
        return self._database.ledger(run)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The damage and the reading errors so far."""
        return tuple(self._faults.values())

    def load(self, digests: Iterable[str]) -> set[str]:
        """Read all replies to these digests at once, for the calls of `find` that follow; return those with a reply."""
        self._loaded = {row[0]: RecordingRow(*row) for row in self._rows(RowSelection.LOAD, [*digests])}
        return {*self._loaded}

    def find(self, digest: str, since: float = -inf, request: Request | None = None) -> Recording | None:
        """Return the reply to the request with this digest, unless it was recorded before `since`.

        With `request`, which the digest names, neither the stored request nor its tools are read.
        """
        row = self._loaded.get(digest)
        if row is None or row.recorded < since:  # another process may have stored a newer one
            row = next((RecordingRow(*values) for values in self._rows(RowSelection.FIND, digest, since)), None)
        return None if row is None else self._recording(row, request)

    def put(self, model: str, file: str, entry: Recording) -> None:
        """Write a reply, in the place of an earlier one to the same request, and end the claim to it.

        `file` is the path of the case's file from the root, with slashes. Raises StoreError; a reply that is not valid
        JSON data is reported in `faults`.
        """
        self.put_all([NewReply(model, file, entry)])

    def put_all(self, replies: Iterable[NewReply]) -> None:
        """Write several replies in one transaction, as `put` does. Raises StoreError if none was written."""
        answered, rows, catalogues = [], [], dict[str, Tools]()
        for model, file, entry in replies:
            self._loaded.pop(entry.digest, None)
            if row := self._row(model, file, entry):
                rows.append(row)
                catalogues[row.catalogue] = entry.request.tools
                self._uses.append((row.model, row.file, storable(entry.case), row.digest))
            answered.append(row.digest if row else storable(entry.digest))
        self._database.put(NewRows(rows, catalogues, self._noted_uses(), answered))

    def try_out(self) -> None:
        """Open the database and write to it. Raises StoreError if no reply could be written."""
        self._database.try_out()

    def rescue(self, replies: Iterable[NewReply]) -> Path:
        """Write replies that the database cannot take into a file apart, and return it. Raises OSError.

        The database takes it in once it can, if it lies in its folder.
        """
        rows, catalogues = [], dict[str, Tools]()
        for model, file, entry in replies:
            if row := self._row(model, file, entry):
                rows.append(row)
                catalogues[row.catalogue] = entry.request.tools
        with suppress(OSError):  # then it goes elsewhere
            make_private_folder(self.folder)
        return rescue(self.folder / _FILE, rows, catalogues)

    def take_in(self, rescued: Path) -> int:
        """Take in a file of `rescue`, remove it, and return the number of its replies. Raises StoreError."""
        return self._database.take_in(rescued)

    def note_use(self, model: str, file: str, case: str, digest: str) -> None:
        """Note that this run answered a case by a recording. Written later, together with others.

        `last_uses` returns the uses of a case's last run; `prune` deletes replies that no last run used.
        """
        self._uses.append((storable(model), storable(file), storable(case), storable(digest)))

    def nearest(self, model: str, case_file: str, case: str, sample: int = 0) -> Recording | None:
        """Return a reply to another request of this case, preferably of the same sample."""
        rows = self._rows(RowSelection.NEAREST, storable(model), storable(case_file), storable(case), sample)
        entry = self._recording(RecordingRow(*rows[0])) if rows else None
        return entry._replace(case=case) if entry else None

    def files(self, model: str | None = None, file: str | None = None) -> list[tuple[str, str]]:
        """The pairs of model and file that have replies, sorted."""
        return self._rows(RowSelection.FILES, model and storable(model), file and storable(file))

    def replies(self, model: str | None = None, file: str | None = None) -> Iterator[StoredReply]:
        """The replies of each case, sorted; of one model, of one file, or all."""
        for row_model, row_file in self.files(model, file):
            last = before = "", ""
            while rows := self._rows(RowSelection.REPLIES_OF_FILE, row_model, row_file, *last):
                for case, digest, *values in rows:
                    last = case, digest
                    if entry := self._recording(RecordingRow(*values)):
                        yield StoredReply(row_model, row_file, entry._replace(case=case))
                if last <= before:  # a damaged index is in no order
                    break
                before = last

    def cases(self) -> list[CaseOfFile]:
        """All that have replies. Raises StoreError."""
        rows = self._database.select(RowSelection.CASES)
        return [CaseOfFile(*row) for row in self._whole(RowSelection.CASES, rows)]

    def last_uses(self, model: str, file: str) -> dict[str, set[str]]:
        """The digests that the last run of each case used, for the cases that ran with this store."""
        digests: dict[str, set[str]] = {}
        for case, digest in self._rows(RowSelection.LAST_USES, storable(model), storable(file)):
            digests.setdefault(case, set()).add(digest)
        return digests

    def import_newer(self, model: str, file: str, entries: Iterable[Recording]) -> int:
        """Write replies that were recorded elsewhere and are newer than ours; return how many. Raises StoreError.

        A reply that is not valid JSON data is reported in `faults`.
        """
        self._loaded.clear()
        rows, catalogues, uses = [], dict[str, Tools](), list[Use]()
        for entry in entries:
            if row := self._row(model, file, entry):
                rows.append(row)
                catalogues[row.catalogue] = entry.request.tools
                uses.append((row.model, row.file, storable(entry.case), row.digest, 0))
        return self._database.put_newer(NewRows(rows, catalogues, uses)) if rows else 0

    def move(self, file: str, new_file: str, case: str | None = None, new_case: str | None = None) -> None:
        """Have the replies of a file, or of one of its cases, belong to another one. Raises StoreError."""
        self._database.move(file, new_file, case, new_case)

    def prune(
        self, wanted: Callable[[str], bool], before: float | None = None, gone: Collection[CaseOfFile] = ()
    ) -> int:
        """Delete replies for files that are not `wanted`, for cases that are gone, and those that no case needs.

        A case needs the replies that its last run used or, with `before`, the replies that were recorded or used since
        that time, in seconds since 1970. Returns the number of deleted replies. Raises StoreError.
        """
        self._loaded.clear()
        if not self._database.exists:
            return 0
        if self._uses:
            self._database.put(NewRows(uses=self._noted_uses()))
        return self._database.prune(wanted, before, gone)

    def stats(self) -> list[ModelStats]:
        """The numbers of each model."""
        return [ModelStats(*row) for row in self._rows(RowSelection.STATS)]

    def claim(self, digest: str, owner: str) -> bool:
        """Claim the request for `owner`; False if another living process holds the claim.

        True for all if the database cannot be used.
        """
        try:
            return self._database.claim(digest, owner, inf).ours
        except StoreError:
            return True

    async def claim_or_find(self, digest: str, owner: str, since: float) -> tuple[bool, Reply | None]:
        """Claim the request as `claim` does. Return the reply, too, if one was recorded since, after all.

        No event loop is kept waiting for another machine.
        """
        remote = self._database.remote
        try:
            if remote is None:
                claimed = self._database.claim(digest, owner, since)
            else:
                from asyncio import wrap_future

                claimed = await wrap_future(remote.submit_claim(digest, owner, since))
        except StoreError as error:
            self._add_fault(str(error))
            return True, None
        rows = self._whole(RowSelection.FIND, claimed.replies) if claimed.ours else []
        return claimed.ours, self._reply(RecordingRow(*rows[0])) if rows else None

    def release(self, digest: str, owner: str) -> None:
        """Release a claim without a reply; `put` ends it itself. Raises StoreError.

        No event loop is kept waiting for another machine, and so not told of its errors.
        """
        if (remote := self._database.remote) is not None:
            remote.submit_release(digest, owner)
        else:
            self._database.release(digest, owner)

    def flush(self) -> None:
        """Write the uses that were noted."""
        if self._uses and self._database.exists:
            try:
                self._database.put(NewRows(uses=self._noted_uses()))
            except StoreError as error:
                self._add_fault(str(error))

    def close(self) -> None:
        """Write the uses that were noted, and let go of the database. The next call opens it again."""
        self.flush()
        self._database.close()

    def _noted_uses(self) -> Sequence[Use]:
        """Take the uses that were noted."""
        taken = [self._uses.popleft() for _ in range(len(self._uses))]
        return [(*use, self._run) for use in taken]

    @cached_property
    def _run(self) -> int:
        """The number of this run, in whose order runs are known: microseconds."""
        return int(self.now() * 1e6)

    def _rows(self, selection: RowSelection, *values: object) -> list[Any]:
        """Select rows. An error is reported in `faults` and gives none: then the request is sent again."""
        try:
            rows = self._database.select(selection, *values)
        except StoreError as error:
            self._add_fault(str(error))
            return []
        return self._whole(selection, rows)

    def _whole(self, selection: RowSelection, rows: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The rows that are as we write them; a fault if others are among them."""
        whole = [row for row in rows if selection.is_whole(row)]
        if len(whole) < len(rows):
            self._add_fault(f"recorded replies in {self.place}: a row was changed on the disk, and is passed over")
        return whole

    def _row(self, model: str, file: str, entry: Recording | UnreadRecording) -> RecordingRow | None:
        """The recording as a row; None, and a fault, if it is not valid JSON data or cannot be freed of a secret."""
        try:
            if isinstance(entry, UnreadRecording) and self._secrets:
                # Late: finding this out takes what reads the interfaces that apps speak.
                from pytest_fcall.backends.recordings.answers import WHY_NOT_KEPT, hides_secret

                if hides_secret(entry, self._secrets):
                    self._add_fault(f"the answer to a request of {entry.case!r} is not kept: {WHY_NOT_KEPT}")
                    return None
            return to_row(model, file, entry, self._secrets)
        except (TypeError, ValueError, RecursionError) as error:
            self._add_fault(str(error))
            return None

    def _recording(self, row: RecordingRow, request: Request | None = None) -> Recording | None:
        """The recording in a row; None, and a fault, if the row is damaged."""
        try:
            return from_row(row, () if request is not None else self._tools(row.catalogue), request)
        except DamagedData as damaged:
            self._add_fault(f"recorded replies in {self.place}: {damaged}; the request will be sent again")
            return None

    def _reply(self, row: RecordingRow) -> Reply | None:
        """The reply in a row, whatever the request was."""
        found = self._recording(row, Request(()))
        return found.reply if found else None

    def _tools(self, catalogue: str) -> Tools:
        """The tools of a reply; none, and a fault, if they are lost: the reply is still good."""
        try:
            return self._database.tools(catalogue)
        except (StoreError, DamagedData) as error:
            self._add_fault(f"recorded replies in {self.place}: {error}")
            return ()

    def _add_fault(self, message: str) -> None:
        self._faults.setdefault(message, Fault("damaged-replies", Location(self.place), message))


def _database(place: StorePlace, on_fault: Callable[[str], None]) -> Database:
    if isinstance(place, Path):
        from pytest_fcall.backends.store.sqlite.database import FileDatabase

        return FileDatabase(place, on_fault)
    from pytest_fcall.backends.store.postgres.database import ServerDatabase

    return ServerDatabase(place, on_fault)
