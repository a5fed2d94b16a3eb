"""Recorded replies as rows of the database, and back."""

from __future__ import annotations

import zlib
from typing import NamedTuple

from pytest_fcall.backends.fields import Damaged
from pytest_fcall.backends.lines import entry_line, entry_of, row_of
from pytest_fcall.backends.recorded import Recorded, Unread
from pytest_fcall.core import Tool

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


def to_row(model: str, file: str, entry: Recorded | Unread, catalogue: str) -> Row:
    """Raises ValueError where the reply holds something that JSON cannot say."""
    line = entry_line(entry, catalogue).encode()
    sample = max(-_LARGEST, min(entry.request.sample, _LARGEST))
    row = Row(plain(entry.digest), plain(model), plain(file), sample, entry.moment, catalogue, line)
    return row._replace(checksum=_checksum(row))


def from_row(row: Row, tools: tuple[Tool, ...]) -> Recorded:
    """Raises Damaged where the row is not as it was written."""
    if row.checksum != _checksum(row):
        raise Damaged("a reply was changed on the disk")
    return entry_of(row_of(row.entry), tools)


def plain(name: str) -> str:
    """The name as the database can hold it: it knows no lone surrogates."""
    return name.encode("utf-8", "backslashreplace").decode()


def _checksum(row: Row) -> int:
    *names, entry, _ = row
    return zlib.crc32(entry, zlib.crc32(repr(names).encode()))
