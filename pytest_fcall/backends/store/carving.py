"""Records out of a SQLite file that SQLite itself no longer reads: page by page, with no word from one to another.

After https://www.sqlite.org/fileformat.html. What comes out may be anything; rows carry checksums of their own.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

Value: TypeAlias = "int | float | str | bytes | None"

_TABLE_LEAF = 13
_PAGE_SIZES = frozenset(2**n for n in range(9, 17))
_USUAL_PAGE_SIZE = 4096
_INTEGER_SIZES: Mapping[int, int] = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def records(path: Path, wal: Path) -> Iterator[tuple[Value, ...]]:
    """All records of tables that can be read in the file, as `wal` changed it."""
    content = path.read_bytes()
    size = _page_size(content)
    pages = {number: content[start : start + size] for number, start in enumerate(range(0, len(content), size), 1)}
    pages.update(_pages_of_wal(wal.read_bytes() if wal.exists() else b"", size))
    for number, page in pages.items():
        for payload in _payloads(page, pages, 100 if number == 1 else 0):
            try:
                yield tuple(_values(payload))
            except (IndexError, struct.error, OverflowError):  # no record
                continue


def _page_size(content: bytes) -> int:
    size = int.from_bytes(content[16:18], "big")
    return size if size in _PAGE_SIZES else _USUAL_PAGE_SIZE


def _pages_of_wal(content: bytes, size: int) -> dict[int, bytes]:
    """The pages of all transactions that were committed; what is left of earlier uses of the file bears other salts."""
    committed: dict[int, bytes] = {}
    begun: dict[int, bytes] = {}
    for start in range(32, len(content), 24 + size):
        number, pages_after_commit = struct.unpack_from(">II", content.ljust(start + 24, b"\0"), start)
        if content[start + 8 : start + 16] != content[16:24]:
            break
        begun[number] = content[start + 24 : start + 24 + size]
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
    size = len(page)
    length, at = _varint(page, at)
    _, at = _varint(page, at)
    if length <= size - 35:
        return page[at : at + length]
    least = (size - 12) * 32 // 255 - 23
    here = least + (length - least) % (size - 4)
    here = here if here <= size - 35 else least
    parts, found = [page[at : at + here]], here
    overflow = int.from_bytes(page[at + here : at + here + 4], "big")
    while found < length:
        more = pages[overflow]
        overflow = int.from_bytes(more[:4], "big")
        parts.append(more[4:])
        found += max(len(more) - 4, 1)
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
