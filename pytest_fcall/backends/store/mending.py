"""A damaged database is set aside, and what can be read of it is copied to a new one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pytest_fcall.backends.fields import Damaged
from pytest_fcall.backends.store import statements
from pytest_fcall.backends.store.carving import Value, records
from pytest_fcall.backends.store.catalogues import read_catalogue
from pytest_fcall.backends.store.rows import Row, from_row, plain

_SUFFIXES = ("-wal", "-shm", "")
"""The database itself is moved last: while it is there, the others are its own."""


def set_aside(path: Path) -> None:
    """Give the database a name that says it is being mended, so that mending which is cut off goes on later."""
    number = 1
    while any(_aside(path, word, number).exists() for word in ("mending", "damaged")):
        number += 1
    _move(path, _aside(path, "mending", number))


def refill(connection: sqlite3.Connection, path: Path) -> Iterator[str]:
    """Copy what can be read of databases set aside; a sentence for each says what was found, and where it is now."""
    for mending in path.parent.glob(_aside(path, "mending", "*").name):
        readable = _copy(connection, mending)
        damaged = mending.with_name(mending.name.replace(".mending-", ".damaged-"))
        _move(mending, damaged)
        yield (
            f"the recorded replies in {path} were damaged: {readable} of them could be read and are kept; "
            f"the damaged file is {damaged.name} now"
        )


def is_cut_off(path: Path) -> bool:
    """Whether the database is empty though there is more to write to it, which SQLite would throw away."""
    wal = _beside(path, "-wal")
    return path.exists() and path.stat().st_size == 0 and wal.exists() and wal.stat().st_size > 0


def _aside(path: Path, word: str, number: object) -> Path:
    return path.with_name(f"{path.stem}.{word}-{number}{path.suffix}")


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _move(path: Path, target: Path) -> None:
    for suffix in _SUFFIXES:
        with suppress(FileNotFoundError):
            _beside(path, suffix).rename(_beside(target, suffix))


def _copy(connection: sqlite3.Connection, damaged: Path) -> int:
    """All of it or, where the disk is full, nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        copied = {_copied(connection, record) for record in records(damaged, _beside(damaged, "-wal"))}
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.rollback()
        raise
    return len(copied - {None})


def _copied(connection: sqlite3.Connection, record: tuple[Value, ...]) -> str | None:
    """Write what is as it was written; the digest if it is a reply."""
    match record:
        case (str() as digest, bytes() as line):
            with suppress(Damaged):
                read_catalogue(digest, line)
                connection.execute("INSERT OR IGNORE INTO catalogues VALUES (?, ?)", (digest, line))
        case (
            str() as digest,
            str() as model,
            str() as file,
            int() as sample,
            int() | float() as recorded,
            str() as catalogue,
            bytes() as line,
            int() as checksum,
        ):
            with suppress(Damaged):
                row = Row(digest, model, file, sample, float(recorded), catalogue, line, checksum)
                entry = from_row(row, ())
                connection.execute(statements.PUT_NEWER, row)
                connection.execute(statements.USE_ONCE, (model, file, plain(entry.case), digest))
                return digest
    return None
