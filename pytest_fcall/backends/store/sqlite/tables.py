"""The tables of a database file: SQL of SQLite, and versions."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pytest_fcall.backends.store.database import RowSelection

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
PUT_FIRST_USE = "INSERT OR IGNORE INTO uses VALUES (?, ?, ?, ?, ?)"

END_CLAIM = "DELETE FROM claims WHERE digest = ?"


SELECTIONS: Mapping[RowSelection, str] = MappingProxyType(
    {
        RowSelection.LOAD: "SELECT * FROM replies WHERE digest IN (SELECT value FROM json_each(?))",
        RowSelection.FIND: "SELECT * FROM replies WHERE digest = ? AND recorded >= ?",
        RowSelection.NEAREST: """
            SELECT r.* FROM uses u JOIN replies r USING (digest) WHERE u.model = ? AND u.file = ? AND u.case_id = ?
            ORDER BY abs(r.sample - ?), r.recorded DESC LIMIT 1
        """,
        RowSelection.FILES: """
            SELECT DISTINCT model, file FROM uses WHERE model = coalesce(?, model) AND file = coalesce(?, file)
            ORDER BY model, file
        """,
        RowSelection.REPLIES_OF_FILE: """
            SELECT u.case_id, u.digest, r.* FROM uses u JOIN replies r USING (digest)
            WHERE u.model = ? AND u.file = ? AND (u.case_id, u.digest) > (?, ?) ORDER BY u.case_id, u.digest LIMIT 500
        """,
        RowSelection.CASES: "SELECT DISTINCT file, case_id FROM uses",
        RowSelection.LAST_USES: """
            SELECT u.case_id, u.digest FROM uses u WHERE u.model = ? AND u.file = ? AND u.run > 0 AND u.run = (
                SELECT max(o.run) FROM uses o WHERE o.model = u.model AND o.file = u.file AND o.case_id = u.case_id
            )
        """,
        RowSelection.STATS: """
            SELECT model, count(*), count(DISTINCT file), min(recorded), max(recorded) FROM replies
            GROUP BY model ORDER BY model
        """,
    }
)
FORGET_CASE = "DELETE FROM uses WHERE file = ? AND case_id = ?"
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

TRY_OUT = ("INSERT OR REPLACE INTO claims VALUES ('', '', '')", "DELETE FROM claims WHERE digest = ''")
"""Leave nothing, but have a page written."""
