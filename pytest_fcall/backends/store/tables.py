"""The tables of the store: their SQL and versions, and replies and tool catalogues as rows."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import suppress
from types import UnionType
from typing import NamedTuple, TypeAlias

from pytest_fcall.backends.recordings.entry import Recording, UnreadRecording
from pytest_fcall.backends.recordings.line import (
    catalogue_line,
    catalogue_of,
    line_fields,
    recording_line,
    recording_of,
    request_of,
)
from pytest_fcall.core import Request, Tool, catalogue_digest
from pytest_fcall.core.json_fields import DamagedData, optional_field
from pytest_fcall.core.secrets import Secrets

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
"""Step n turns a database of version n into one of version n + 1. A released step never changes."""

_MARK = 0xFCA11 << 8
"""Added to our version number, to distinguish it from the number of another program."""


class NewerVersion(Exception):
    """The database was written by a newer version of this package."""


def migrate(connection: sqlite3.Connection, steps: Sequence[str] = MIGRATIONS) -> None:
    """Run the steps that the database has not seen yet, all of them or none.

    Raises NewerVersion, and sqlite3.DatabaseError if the tables are not ours.
    """
    (marked,) = connection.execute("PRAGMA user_version").fetchone()
    version = marked - _MARK if marked else 0
    if len(steps) < version < 0x100:
        raise NewerVersion
    if not 0 <= version <= len(steps):
        version = 0  # if the tables exist nevertheless, the first step fails
    if version == len(steps):
        return
    script = "".join(steps[version:])
    connection.executescript(f"BEGIN IMMEDIATE; {script}; PRAGMA user_version = {_MARK + len(steps)}; COMMIT")


# An update in place writes half as much as REPLACE.
PUT_REPLY = """
    INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO UPDATE SET
    model = excluded.model, file = excluded.file, sample = excluded.sample, recorded = excluded.recorded,
    catalogue = excluded.catalogue, entry = excluded.entry, checksum = excluded.checksum
"""
PUT_NEWER_REPLY = f"{PUT_REPLY} WHERE excluded.recorded > replies.recorded"

PUT_USE = """
    INSERT INTO uses VALUES (?, ?, ?, ?, ?) ON CONFLICT (model, file, case_id, digest) DO UPDATE SET run = excluded.run
"""
MOVE_USES = """
    UPDATE OR REPLACE uses SET file = :new_file, case_id = coalesce(:new_case, case_id)
    WHERE file = :file AND case_id = coalesce(:case, case_id)
"""
PUT_FIRST_USE = "INSERT OR IGNORE INTO uses VALUES (?, ?, ?, ?, 0)"

END_CLAIM = "DELETE FROM claims WHERE digest = ?"


class Selection(NamedTuple):
    """A statement that selects rows, and the types of their columns: in a damaged file any value may be anywhere."""

    statement: str
    types: Sequence[type | UnionType]

    def is_whole(self, row: Sequence[object]) -> bool:
        """Whether the row is one as we write them."""
        return all(map(isinstance, row, self.types))


_REPLY = (str, str, str, int, float | int, str, bytes, int)
LOAD = Selection("SELECT * FROM replies WHERE digest IN (SELECT value FROM json_each(?))", _REPLY)
FIND = Selection("SELECT * FROM replies WHERE digest = ? AND recorded >= ?", _REPLY)
NEAREST = Selection(
    """
    SELECT r.* FROM uses u JOIN replies r USING (digest) WHERE u.model = ? AND u.file = ? AND u.case_id = ?
    ORDER BY abs(r.sample - ?), r.recorded DESC LIMIT 1
    """,
    _REPLY,
)
FILES = Selection(
    """
    SELECT DISTINCT model, file FROM uses WHERE model = coalesce(?, model) AND file = coalesce(?, file)
    ORDER BY model, file
    """,
    (str, str),
)
REPLIES_OF_FILE = Selection(
    """
    SELECT u.case_id, u.digest, r.* FROM uses u JOIN replies r USING (digest)
    WHERE u.model = ? AND u.file = ? AND (u.case_id, u.digest) > (?, ?) ORDER BY u.case_id, u.digest LIMIT 500
    """,
    (str, str, *_REPLY),
)
LAST_USES = Selection(
    """
    SELECT u.case_id, u.digest FROM uses u WHERE u.model = ? AND u.file = ? AND u.run > 0 AND u.run = (
        SELECT max(o.run) FROM uses o WHERE o.model = u.model AND o.file = u.file AND o.case_id = u.case_id
    )
    """,
    (str, str),
)
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

STATS = Selection(
    """
    SELECT model, count(*), count(DISTINCT file), min(recorded), max(recorded) FROM replies
    GROUP BY model ORDER BY model
    """,
    (str, int, int, float | int, float | int),
)
TRY_OUT = ("INSERT OR REPLACE INTO claims VALUES ('', '', '')", "DELETE FROM claims WHERE digest = ''")
"""Leave nothing, but have a page written."""

_LARGEST_INTEGER = 2**63 - 1

Tools: TypeAlias = tuple[Tool, ...]


class Row(NamedTuple):
    """A row of the table `replies`, column by column."""

    digest: str
    model: str
    file: str
    sample: int
    recorded: float
    """Seconds since 1970; 0 if unknown."""
    catalogue: str
    line: bytes
    """The column `entry`: the line of a recording."""
    checksum: int = 0
    """Detects a row that was changed on the disk, which SQLite does not notice."""


def to_row(model: str, file: str, entry: Recording | UnreadRecording, secrets: Secrets) -> Row:
    """The recording as a row, without secrets. Raises ValueError if the reply is not valid JSON data."""
    request = entry.request
    catalogue = catalogue_digest(request.tools)
    line = secrets.redacted(recording_line(entry, catalogue)).encode()
    sample = max(-_LARGEST_INTEGER, min(request.sample, _LARGEST_INTEGER))
    names = storable(entry.digest), storable(model), storable(file), sample, entry.timestamp, catalogue
    return Row(*names, line, _checksum(names, line))


def from_row(row: Row, tools: Tools, request: Request | None = None) -> Recording:
    """The recording in a row; only its reply is read if the `request` is given. Raises DamagedData."""
    *names, line, checksum = row
    if checksum != _checksum(names, line):
        raise DamagedData("a reply was changed on the disk")
    fields = line_fields(line)
    return recording_of(fields, request or request_of(fields, tools, optional_field(fields, "settings", dict) or {}))


def _checksum(names: Sequence[object], line: bytes) -> int:
    return zlib.crc32(line, zlib.crc32(repr([*names]).encode()))


def storable(name: str) -> str:
    """The name without lone surrogates, which SQLite cannot hold."""
    return name if name.isascii() else name.encode("utf-8", "backslashreplace").decode()


class ToolCatalogues:
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


def read_catalogue(digest: str, line: bytes) -> Tools:
    """The tools in a line. Raises DamagedData if they are not the catalogue with this digest."""
    if not isinstance(line, bytes):  # in a damaged file
        raise DamagedData("a catalogue of tools was changed on the disk")
    tools = catalogue_of(line_fields(line))
    if catalogue_digest(tools) != digest:
        raise DamagedData("a catalogue of tools was changed on the disk")
    return tools
