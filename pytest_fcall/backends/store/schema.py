"""The tables of the store, and how older ones become today's."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

STEPS: Sequence[str] = (
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


def bring_up_to_date(connection: sqlite3.Connection, steps: Sequence[str] = STEPS) -> None:
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
