"""The store's database on a server, for the processes of many hosts."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from pytest_fcall.backends.recordings.line import catalogue_line
from pytest_fcall.backends.store.address import StoreAddress
from pytest_fcall.backends.store.database import CaseOfFile, ClaimResult, NewRows, RowSelection, StoreError
from pytest_fcall.backends.store.postgres import tables
from pytest_fcall.backends.store.postgres.connection import Connection, ServerConnection, together
from pytest_fcall.backends.store.postgres.ledger import ServerLedger
from pytest_fcall.backends.store.postgres.store_thread import GatheredWork, StoreThread, WorkOutcome
from pytest_fcall.backends.store.rows import (
    CatalogueRow,
    Tools,
    read_catalogue,
    read_rescued,
    rescued_beside,
    sound_rows,
)
from pytest_fcall.core.json_data import DamagedData

LEASE: Final = 30.0
"""Seconds for which the claims of a process hold that says nothing any more."""
_FILE: Final = "replies.db"
"""The beginning of the names of files with replies that the server did not take."""


class _WantedRequest(NamedTuple):
    """A request that somebody wants to send, unless there is a reply that was recorded since."""

    digest: str
    owner: str
    since: float


class ServerDatabase:
    """The tables of a project on a server. They are made by who comes first."""

    def __init__(self, address: StoreAddress, on_fault: Callable[[str], None]) -> None:
        self._address = address
        self._on_fault = on_fault
        self._server = ServerConnection(address, self._opened, self._say_alive_again)
        self._thread = StoreThread()
        self._ledger = ServerLedger(self._server, self._thread)
        self._wanted: GatheredWork[_WantedRequest] = GatheredWork(self._thread, self._claim_all)
        self._tools: dict[str, Tools] = {}
        self._process = ""
        """The name under which this process claims requests; empty as long as it claims none."""
        self._named_in = 0
        self._alive_until = 0.0
        """The monotonic time until which others know that this process is alive."""

    @property
    def place(self) -> str:
        """The address, for people."""
        return self._address.shown

    @property
    def folder(self) -> Path:
        """The project's own folder."""
        return self._address.folder

    @property
    def exists(self) -> bool:
        """The server knows."""
        return True

    @property
    def size(self) -> int:
        """The bytes of the project's tables."""
        return int(self._fetch(tables.SIZE, f'"{self._server.schema}"')[0][0])

    def now(self) -> float:
        """The time of the server."""
        return self._server.now()

    def select(self, selection: RowSelection, *values: object) -> list[tuple[Any, ...]]:
        """Select rows."""
        return self._fetch(tables.SELECTIONS[selection], *values)

    def tools(self, catalogue: str) -> Tools:
        """Read a catalogue, once."""
        if catalogue not in self._tools:
            rows = self._fetch(tables.GET_CATALOGUE, catalogue)
            if not rows:
                raise DamagedData("the tools of a reply are missing")
            self._tools[catalogue] = read_catalogue(catalogue, rows[0][0])
        return self._tools[catalogue]

    def put(self, rows: NewRows) -> None:
        """Write rows in one transaction, with one answer of the server."""
        lines = _catalogue_lines(rows)
        new = [each for each in lines if each.digest not in self._tools]

        def work(connection: Connection) -> None:
            with together(connection):
                self._server.execute_many(connection, tables.PUT_CATALOGUE, new)
                # In one order: transactions that wait for each other in a circle would be broken off.
                self._server.execute_many(connection, tables.PUT_REPLY, sorted(rows.replies))
                self._server.execute_many(connection, tables.PUT_USE, sorted(rows.uses))
                self._server.execute(connection, tables.END_CLAIMS, sorted(rows.answered))
                missing = self._server.execute(connection, tables.MISSING_CATALOGUES, [each.digest for each in lines])
            self._put_missing(connection, lines, {digest for (digest,) in missing})

        self._server.run(work)
        self._tools.update(rows.catalogues)

    def _put_missing(self, connection: Connection, lines: Sequence[CatalogueRow], missing: Collection[str]) -> None:
        """Write catalogues that another process has pruned meanwhile, before there was a reply that needed them."""
        while missing:
            with connection.transaction():
                self._server.execute_many(
                    connection, tables.PUT_CATALOGUE, [row for row in lines if row.digest in missing]
                )
            found = self._server.execute(connection, tables.MISSING_CATALOGUES, [row.digest for row in lines])
            missing = {digest for (digest,) in found}

    def put_newer(self, rows: NewRows) -> int:
        """Write replies where they are newer."""
        return self._server.run_for_long(lambda connection: self._put_newer(connection, rows, _catalogue_lines(rows)))

    def _put_newer(self, connection: Connection, rows: NewRows, lines: Sequence[CatalogueRow]) -> int:
        with connection.transaction(), connection.cursor() as cursor:
            self._server.execute_many(connection, tables.PUT_CATALOGUE, lines)
            written = 0
            if rows.replies:
                cursor.executemany(self._server.statement(tables.PUT_NEWER_REPLY).encode(), sorted(rows.replies))
                written = cursor.rowcount
            self._server.execute_many(connection, tables.PUT_FIRST_USE, sorted(rows.uses))
            missing = self._server.execute(connection, tables.MISSING_CATALOGUES, [each.digest for each in lines])
        self._put_missing(connection, lines, {digest for (digest,) in missing})
        return written

    def move(self, file: str, new_file: str, case: str | None, new_case: str | None) -> None:
        """Rename in the uses."""
        names = {"file": file, "new_file": new_file, "case": case, "new_case": new_case}

        def work(connection: Connection) -> None:
            with connection.transaction():
                for statement in tables.MOVE_USES:
                    connection.execute(self._server.statement(statement).encode(), names)

        self._server.run(work)

    def prune(self, wanted: Callable[[str], bool], before: float | None, gone: Collection[CaseOfFile]) -> int:
        """Delete uses, and what nobody uses then."""

        def work(connection: Connection) -> int:
            with connection.transaction():
                self._server.execute(connection, tables.LOCK_OUT_WRITERS)
                files = [file for (file,) in self._server.execute(connection, tables.FILES_IN_USE)]
                self._server.execute(connection, tables.FORGET_FILES, [file for file in files if not wanted(file)])
                self._server.execute_many(connection, tables.FORGET_CASE, [*gone])
                if before is None:
                    self._server.execute(connection, tables.FORGET_EARLIER_RUNS)
                else:
                    connection.execute(self._server.statement(tables.FORGET_UNUSED).encode(), {"before": before})
                deleted = connection.execute(self._server.statement(tables.FORGET_REPLIES).encode()).rowcount
                self._server.execute(connection, tables.FORGET_CATALOGUES)
            return int(deleted)

        deleted = self._server.run_for_long(work)
        self._tools.clear()
        return deleted

    @property
    def remote(self) -> ServerDatabase:
        """It is on another machine, as far as anybody knows."""
        return self

    def claim(self, digest: str, owner: str, since: float) -> ClaimResult:
        """Claim a request, unless a process has that was alive a short time ago."""
        claimed: ClaimResult = self._wanted.do(_WantedRequest(digest, owner, since))
        return claimed

    def submit_claim(self, digest: str, owner: str, since: float) -> Future[ClaimResult]:
        """Claim a request, together with others."""
        return self._wanted.submit(_WantedRequest(digest, owner, since))

    def _claim_all(self, wanted: Sequence[_WantedRequest]) -> Sequence[WorkOutcome]:
        """Claim requests, and look for replies to them that others have stored just before, in one round trip."""

        def work(connection: Connection) -> Sequence[WorkOutcome]:
            if not self._process or self._named_in != os.getpid():
                self._process, self._named_in, self._alive_until = uuid.uuid4().hex, os.getpid(), 0.0
            if time.monotonic() > self._alive_until:  # as in a process that slept with its machine
                # By itself: processes that wait for these claims do not see the other changes yet.
                self._say_alive(connection)
            with together(connection, durable=False):
                claims = {
                    each: self._server.execute(connection, tables.CLAIM, each.digest, each.owner, self._process)
                    for each in sorted(wanted)  # in one order, as in `put`
                }
                found = {
                    each: self._server.execute(
                        connection, tables.SELECTIONS[RowSelection.FIND], each.digest, each.since
                    )
                    for each in claims
                }
            claimed = {
                each: ClaimResult(claims[each].fetchone() is not None, found[each].fetchall()) for each in claims
            }
            return [partial(claimed.__getitem__, each) for each in wanted]

        return self._server.run(work)

    def release(self, digest: str, owner: str) -> None:
        """Release a claim."""
        if self._process:
            self._server.run(
                lambda connection: self._server.execute(connection, tables.END_CLAIM, digest, owner, self._process)
            )

    def submit_release(self, digest: str, owner: str) -> None:
        """Release a claim, after all claims that were submitted before. One that cannot be ends with the process."""

        def work() -> None:
            with suppress(StoreError):
                self.release(digest, owner)

        self._thread.start(work)

    def _say_alive_again(self) -> None:
        if self._process and self._named_in == os.getpid():
            self._server.run(self._say_alive)

    def _say_alive(self, connection: Connection) -> None:
        until = time.monotonic() + LEASE / 2
        self._server.execute(connection, tables.IS_ALIVE, self._process, LEASE)
        self._alive_until = until

    def try_out(self) -> None:
        """Connect, and write: what dead processes and runs have left is deleted."""

        def work(connection: Connection) -> None:
            with together(connection):
                for statement in tables.FORGET_OLD:
                    self._server.execute(connection, statement)
                self._server.execute(connection, tables.MAKE_TEXT, "")
                self._server.execute(connection, tables.PUT_TEXT, "", "")

        self._server.run(work)

    def take_in(self, rescued: Path) -> int:
        """Take in a file of replies."""
        return self._server.run_for_long(lambda connection: self._take_in(connection, rescued))

    def _take_in(self, connection: Connection, rescued: Path) -> int:
        replies, lines = [], []
        for sound in sound_rows(read_rescued(rescued)):
            if isinstance(sound, CatalogueRow):
                lines.append(sound)
            else:
                replies.append(sound)
        uses = [(row.model, row.file, case, row.digest, 0) for row, case in replies]
        self._put_newer(connection, NewRows([row for row, _ in replies], {}, uses), lines)
        rescued.unlink(missing_ok=True)  # the process that wrote it may have written them meanwhile
        return len({row.digest for row, _ in replies})

    def _opened(self, connection: Connection) -> None:
        """Take in what the server did not take when it was there last. What it refuses again goes on waiting."""
        for rescued in rescued_beside(self.folder / _FILE):
            try:
                self._take_in(connection, rescued)
            except (self._server.error, OSError) as error:
                self._on_fault(f"the replies in {rescued} still wait for {self.place}: {' '.join(str(error).split())}")

    def ledger(self, _: str, /) -> ServerLedger:
        """The ledger of the project, which all of its runs share."""
        return self._ledger

    def close(self) -> None:
        """Wait for what was submitted, end the claims, and close the connection."""
        self._thread.close()
        if self._process and self._named_in == os.getpid():
            with suppress(StoreError):  # they end by themselves
                self._server.run(
                    lambda connection: [
                        self._server.execute(connection, each, self._process) for each in tables.END_PROCESS
                    ]
                )
        self._process = ""
        self._server.close()

    def _fetch(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        return self._server.run(lambda connection: self._server.execute(connection, statement, *values).fetchall())


def _catalogue_lines(rows: NewRows) -> list[CatalogueRow]:
    found = rows.catalogues.items()
    return sorted(CatalogueRow(digest, catalogue_line(digest, tools).encode()) for digest, tools in found)
