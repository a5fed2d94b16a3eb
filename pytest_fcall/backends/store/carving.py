"""Records out of a SQLite file that SQLite itself no longer reads: page by page, with no word from one to another.

After https://www.sqlite.org/fileformat.html. What comes out may be anything; rows carry checksums of their own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

Value: TypeAlias = "int | float | str | bytes | None"

PAGE_SIZE = 4096
_TABLE_LEAF = 13
_INTEGER_SIZES: Mapping[int, int] = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def records(path: Path, wal: Path) -> Iterator[tuple[Value, ...]]:
    """All records of tables that can be read in the file, as `wal` changed it."""
    content = path.read_bytes()
    starts = range(0, len(content), PAGE_SIZE)
    pages = {number: content[start : start + PAGE_SIZE] for number, start in enumerate(starts, 1)}
    pages.update(_pages_of_wal(wal.read_bytes() if wal.exists() else b""))
    for number, page in pages.items():
        for payload in _payloads(page, pages, 100 if number == 1 else 0):
            try:
                yield tuple(_values(payload))
            except (IndexError, struct.error, OverflowError):  # no record
                continue


def _pages_of_wal(content: bytes) -> dict[int, bytes]:
    """The pages of all transactions that were committed; what is left of earlier uses of the file bears other salts."""
    committed: dict[int, bytes] = {}
    begun: dict[int, bytes] = {}
    for start in range(32, len(content) - 24, 24 + PAGE_SIZE):
        number, pages_after_commit = struct.unpack_from(">II", content, start)
        if content[start + 8 : start + 16] != content[16:24]:
            continue
        begun[number] = content[start + 24 : start + 24 + PAGE_SIZE]
        if pages_after_commit:
            committed.update(begun)
            begun.clear()
    return committed


def _payloads(page: bytes, pages: Mapping[int, bytes], start: int) -> Iterator[bytes]:
    if len(page) < start + 8 or page[start] != _TABLE_LEAF:
        return
    (cells,) = struct.unpack_from(">H", page, start + 3)
    for at in range(start + 8, min(start + 8 + 2 * cells, len(page) - 1), 2):
        try:
            yield _payload(page, int.from_bytes(page[at : at + 2], "big"), pages)
        except (IndexError, KeyError):  # a cell that points nowhere
            continue


def _payload(page: bytes, at: int, pages: Mapping[int, bytes]) -> bytes:
    length, at = _varint(page, at)
    _, at = _varint(page, at)
    if length <= PAGE_SIZE - 35:
        return page[at : at + length]
    if length > PAGE_SIZE * len(pages):
        raise IndexError
    least = (PAGE_SIZE - 12) * 32 // 255 - 23
    here = least + (length - least) % (PAGE_SIZE - 4)
    here = here if here <= PAGE_SIZE - 35 else least
    parts, found = [page[at : at + here]], here
    overflow = int.from_bytes(page[at + here : at + here + 4], "big")
    while found < length:
        more = pages[overflow]
        overflow = int.from_bytes(more[:4], "big")
        parts.append(more[4:])
        found += PAGE_SIZE - 4
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
    """A number of one to nine bytes, and where the next thing begins."""
    number = 0
    for count in range(8):
        byte = data[at + count]
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at + count + 1
    return number << 8 | data[at + 8], at + 9
