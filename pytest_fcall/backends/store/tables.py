"""The tables of the store: their SQL and versions, and replies and tool catalogues as rows."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from pytest_fcall.backends.recordings.entry import Recording, UnreadRecording
from pytest_fcall.backends.recordings.file import (
    catalogue_line,
    catalogue_of,
    line_fields,
    recording_line,
    recording_of,
)
from pytest_fcall.core import Tool, catalogue_digest
from pytest_fcall.core.json_fields import DamagedData

MIGRATIONS: Sequence[str] = (
    """
    CREATE TABLE catalogues (
        digest TEXT NOT NULL PRIMARY KEY,
        tools BLOB NOT NULL
    );
    CREATE TABLE replies (
        digest TEXT NOT NULL PRIMARY KEY,
        model TEXT NOT NULL,
        file TEXT NOT NULL,
        sample INTEGER NOT NULL,
        recorded REAL NOT NULL,
        catalogue TEXT NOT NULL,
        entry BLOB NOT NULL,
        checksum INTEGER NOT NULL
    );
    CREATE TABLE uses (
        model TEXT NOT NULL,
        file TEXT NOT NULL,
        case_id TEXT NOT NULL,
        digest TEXT NOT NULL,
        run INTEGER NOT NULL,
        PRIMARY KEY (model, file, case_id, digest)
    ) WITHOUT ROWID;
    CREATE TABLE claims (
        digest TEXT NOT NULL PRIMARY KEY,
        owner TEXT NOT NULL,
        process TEXT NOT NULL
    ) WITHOUT ROWID;
    """,
)
"""Step n makes a database of version n one of version n + 1. A step that was released never changes."""


_MARK = 0xFCA11 << 8
"""Added to the version, so that a number that comes from elsewhere is no version of ours."""


class NewerVersion(Exception):
    """The database was written by a version of this package that is yet to come."""


def migrate(connection: sqlite3.Connection, steps: Sequence[str] = MIGRATIONS) -> None:
    """Take the steps that the database has not taken yet, all of them or none.

    Raises NewerVersion, and sqlite3.DatabaseError where the tables are not ours.
    """
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    version = found - _MARK if found else 0
    if len(steps) < version < 0x100:
        raise NewerVersion
    if not 0 <= version <= len(steps):
        version = 0  # the tables are there, or else were never ours: the first step tells
    if version == len(steps):
        return
    script = "".join(steps[version:])
    connection.executescript(f"BEGIN IMMEDIATE; {script}; PRAGMA user_version = {_MARK + len(steps)}; COMMIT")


# To change a row in its place writes half as much as to replace it.
PUT = """
    INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO UPDATE SET
    model = excluded.model, file = excluded.file, sample = excluded.sample, recorded = excluded.recorded,
    catalogue = excluded.catalogue, entry = excluded.entry, checksum = excluded.checksum
"""
PUT_NEWER = f"{PUT} WHERE excluded.recorded > replies.recorded"

USE = """
    INSERT INTO uses VALUES (?, ?, ?, ?, ?) ON CONFLICT (model, file, case_id, digest) DO UPDATE SET run = excluded.run
"""
USE_ONCE = "INSERT OR IGNORE INTO uses VALUES (?, ?, ?, ?, 0)"

END_CLAIM = "DELETE FROM claims WHERE digest = ?"

KNOWN = "SELECT digest FROM replies WHERE digest IN (SELECT value FROM json_each(?))"
FIND = "SELECT * FROM replies WHERE digest = ? AND recorded >= ?"
NEAREST = """
    SELECT r.* FROM uses u JOIN replies r USING (digest) WHERE u.model = ? AND u.file = ? AND u.case_id = ?
    ORDER BY abs(r.sample - ?), r.recorded DESC LIMIT 1
"""
FILES = """
    SELECT DISTINCT model, file FROM uses WHERE model = coalesce(?, model) AND file = coalesce(?, file)
    ORDER BY model, file
"""
PORTION = """
    SELECT u.case_id, u.digest, r.* FROM uses u JOIN replies r USING (digest)
    WHERE u.model = ? AND u.file = ? AND (u.case_id, u.digest) > (?, ?) ORDER BY u.case_id, u.digest LIMIT 500
"""

LAST_USED = """
    SELECT u.case_id, u.digest FROM uses u WHERE u.model = ? AND u.file = ? AND u.run > 0 AND u.run = (
        SELECT max(o.run) FROM uses o WHERE o.model = u.model AND o.file = u.file AND o.case_id = u.case_id
    )
"""
FORGET_EARLIER_RUNS = """
    DELETE FROM uses WHERE run < (
        SELECT max(o.run) FROM uses o WHERE o.model = uses.model AND o.file = uses.file AND o.case_id = uses.case_id
    )
"""
FORGET_UNUSED = """
    DELETE FROM uses WHERE run < :before * 1e6 AND coalesce(
        (SELECT r.recorded FROM replies r WHERE r.digest = uses.digest), 0
    ) < :before
"""
FORGET_REPLIES = "DELETE FROM replies WHERE digest NOT IN (SELECT digest FROM uses)"
FORGET_CATALOGUES = "DELETE FROM catalogues WHERE digest NOT IN (SELECT catalogue FROM replies)"

STATS = """
    SELECT model, count(*), count(DISTINCT file), min(recorded), max(recorded) FROM replies
    GROUP BY model ORDER BY model
"""


_LARGEST = 2**63 - 1


class Row(NamedTuple):
    """A row of the table `replies`, column by column."""

    digest: str
    model: str
    file: str
    sample: int
    recorded: float
    """Seconds since 1970; 0 where the entry does not say."""
    catalogue: str
    entry: bytes
    """The line that stands for the reply in a file of recordings, too."""
    checksum: int = 0
    """Tells a row that was changed on the disk, which SQLite does not notice."""


def to_row(model: str, file: str, entry: Recording | UnreadRecording, catalogue: str) -> Row:
    """Raises ValueError where the reply holds something that JSON cannot say."""
    line = recording_line(entry, catalogue).encode()
    sample = max(-_LARGEST, min(entry.request.sample, _LARGEST))
    row = Row(storable(entry.digest), storable(model), storable(file), sample, entry.moment, catalogue, line)
    return row._replace(checksum=_checksum(row))


def from_row(row: Row, tools: tuple[Tool, ...]) -> Recording:
    """Raises Damaged where the row is not as it was written."""
    if row.checksum != _checksum(row):
        raise DamagedData("a reply was changed on the disk")
    return recording_of(line_fields(row.entry), tools)


def storable(name: str) -> str:
    """The name as the database can hold it: it knows no lone surrogates."""
    return name.encode("utf-8", "backslashreplace").decode()


def _checksum(row: Row) -> int:
    *names, entry, _ = row
    return zlib.crc32(entry, zlib.crc32(repr(names).encode()))


Tools = tuple[Tool, ...]


class ToolCatalogues:
    """Remembers the catalogues that cases share, so that none is read twice."""

    def __init__(self) -> None:
        self._tools: dict[str, Tools] = {}

    def put(self, connection: sqlite3.Connection, digest: str, tools: Tools) -> None:
        """Write the catalogue where it is not written yet, or is damaged."""
        if not self._has(connection, digest):
            connection.execute(
                "INSERT OR REPLACE INTO catalogues VALUES (?, ?)", (digest, catalogue_line(digest, tools).encode())
            )
            self._tools[digest] = tools

    def _has(self, connection: sqlite3.Connection, digest: str) -> bool:
        """A catalogue that was read once is sound; another process may have forgotten it, though."""
        if digest in self._tools:
            return connection.execute("SELECT 1 FROM catalogues WHERE digest = ?", (digest,)).fetchone() is not None
        with suppress(DamagedData):
            self.get(connection, digest)
        return digest in self._tools

    def get(self, connection: sqlite3.Connection, digest: str) -> Tools:
        """Read a catalogue. Raises Damaged where it is not there, or not as it was written."""
        if digest not in self._tools:
            found = connection.execute("SELECT tools FROM catalogues WHERE digest = ?", (digest,)).fetchone()
            if found is None:
                raise DamagedData("the tools of a reply are missing")
            self._tools[digest] = read_catalogue(digest, found[0])
        return self._tools[digest]


def read_catalogue(digest: str, line: bytes) -> Tools:
    """Raises Damaged where the line is not the catalogue of this digest."""
    tools = catalogue_of(line_fields(line))
    if catalogue_digest(tools) != digest:
        raise DamagedData("a catalogue of tools was changed on the disk")
    return tools
