"""Repair of a damaged database: the file is set aside, and all readable rows are copied to a new one.

Records are read page by page, without SQLite, after https://www.sqlite.org/fileformat.html. A salvaged record may
hold anything; each row has a checksum of its own.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from pytest_fcall.backends.store.rows import CatalogueRow, SoundReply, Value, sound_rows
from pytest_fcall.backends.store.sqlite.tables import PUT_FIRST_USE, PUT_NEWER_REPLY

PAGE_SIZE = 4096
_TABLE_LEAF = 13
_INTEGER_SIZES: Mapping[int, int] = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_SUFFIXES = ("-wal", "-shm", "")
"""The database itself is moved last: as long as it is there, the other files belong to it."""


def set_aside(path: Path) -> None:
    """Rename the database to `.mending-N`, so that the next process resumes a repair that was interrupted."""
    number = 1
    while any(_set_aside_path(path, word, number).exists() for word in ("mending", "damaged")):
        number += 1
    _move(path, _set_aside_path(path, "mending", number))


def copy_readable(connection: sqlite3.Connection, path: Path) -> Iterator[str]:
    """Copy the readable rows of all databases set aside, and return a message about each."""
    for mending in path.parent.glob(_set_aside_path(path, "mending", "*").name):
        readable = copy_records(connection, salvaged_records(mending, _beside(mending, "-wal")))
        damaged = mending.with_name(mending.name.replace(".mending-", ".damaged-"))
        _move(mending, damaged)
        yield (
            f"the recorded replies in {path} were damaged: {readable} could be read and are kept; "
            f"the damaged file is now {damaged.name}"
        )


def is_truncated(path: Path) -> bool:
    """Whether the database is empty but its write-ahead log is not. SQLite would delete the log."""
    wal = _beside(path, "-wal")
    return path.exists() and path.stat().st_size == 0 and wal.exists() and wal.stat().st_size > 0


def _set_aside_path(path: Path, word: str, number: object) -> Path:
    return path.with_name(f"{path.stem}.{word}-{number}{path.suffix}")


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _move(path: Path, target: Path) -> None:
    for suffix in _SUFFIXES:
        with suppress(FileNotFoundError):
            _beside(path, suffix).rename(_beside(target, suffix))


def copy_records(connection: sqlite3.Connection, records: Iterable[Sequence[Value]]) -> int:
    """Copy all records that are undamaged rows, or none if the disk is full, and return the number of replies."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        copied = {_copied(connection, sound) for sound in sound_rows(records)}
        connection.execute("COMMIT")
    except BaseException:  # Ctrl+C, too
        with suppress(sqlite3.Error):
            connection.rollback()
        raise
    return len(copied - {None})


def _copied(connection: sqlite3.Connection, sound: CatalogueRow | SoundReply) -> str | None:
    """Write the row; return the digest if it is a reply."""
    if isinstance(sound, CatalogueRow):
        connection.execute("INSERT OR IGNORE INTO catalogues VALUES (?, ?)", sound)
        return None
    row = sound.row
    with suppress(OverflowError):  # a number that SQLite cannot hold
        connection.execute(PUT_NEWER_REPLY, row)
        connection.execute(PUT_FIRST_USE, (row.model, row.file, sound.case, row.digest, 0))
        return row.digest
    return None


def salvaged_records(path: Path, wal: Path) -> Iterator[tuple[Value, ...]]:
    """All readable table records of a database file and its write-ahead log."""
    content = path.read_bytes()
    starts = range(0, len(content), PAGE_SIZE)
    pages = {number: content[start : start + PAGE_SIZE] for number, start in enumerate(starts, 1)}
    pages.update(_pages_of_wal(wal.read_bytes() if wal.exists() else b""))
    for number, page in pages.items():
        for payload in _payloads(page, pages, 100 if number == 1 else 0):
            try:
                yield tuple(_values(payload))
            except (IndexError, struct.error, OverflowError):  # not a record
                continue


def _pages_of_wal(content: bytes) -> dict[int, bytes]:
    """The pages of all committed transactions. Pages left from earlier uses of the log have other salts."""
    committed: dict[int, bytes] = {}
    pending: dict[int, bytes] = {}
    for start in range(32, len(content) - 24, 24 + PAGE_SIZE):
        number, pages_after_commit = struct.unpack_from(">II", content, start)
        if content[start + 8 : start + 16] != content[16:24]:
            continue
        pending[number] = content[start + 24 : start + 24 + PAGE_SIZE]
        if pages_after_commit:
            committed.update(pending)
            pending.clear()
    return committed


def _payloads(page: bytes, pages: Mapping[int, bytes], start: int) -> Iterator[bytes]:
    if len(page) < start + 8 or page[start] != _TABLE_LEAF:
        return
    (cells,) = struct.unpack_from(">H", page, start + 3)
    for at in range(start + 8, min(start + 8 + 2 * cells, len(page) - 1), 2):
        try:
            yield _payload(page, int.from_bytes(page[at : at + 2], "big"), pages)
        except (IndexError, KeyError):  # the cell points outside the page
            continue


def _payload(page: bytes, at: int, pages: Mapping[int, bytes]) -> bytes:
    length, at = _varint(page, at)
    _, at = _varint(page, at)
    if length <= PAGE_SIZE - 35:
        return page[at : at + length]
    if length > PAGE_SIZE * len(pages):
        raise IndexError
    least = (PAGE_SIZE - 12) * 32 // 255 - 23
    in_page = least + (length - least) % (PAGE_SIZE - 4)
    in_page = in_page if in_page <= PAGE_SIZE - 35 else least
    parts, size = [page[at : at + in_page]], in_page
    next_page = int.from_bytes(page[at + in_page : at + in_page + 4], "big")
    while size < length:
        overflow = pages[next_page]
        next_page = int.from_bytes(overflow[:4], "big")
        parts.append(overflow[4:])
        size += PAGE_SIZE - 4
    return b"".join(parts)[:length]


def _values(payload: bytes) -> Iterator[Value]:
    end, at = _varint(payload, 0)
    body = end
    while at < end:
        kind, at = _varint(payload, at)
        value, size = _value(kind, payload, body)
        yield value
        body += size


def _value(kind: int, payload: bytes, at: int) -> tuple[Value, int]:
    if kind >= 12:
        size = (kind - 12) // 2
        raw = payload[at : at + size]
        return (raw.decode("utf-8", "replace") if kind % 2 else raw), size
    if size := _INTEGER_SIZES.get(kind, 0):
        return int.from_bytes(payload[at : at + size], "big", signed=True), size
    if kind == 7:
        return struct.unpack_from(">d", payload, at)[0], 8
    return {8: 0, 9: 1}.get(kind), 0


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and the position after it."""
    number = 0
    for count in range(8):
        byte = data[at + count]
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at + count + 1
    return number << 8 | data[at + 8], at + 9
