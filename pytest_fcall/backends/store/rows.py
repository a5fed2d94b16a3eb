"""Recorded replies as rows of the database, and back."""

from __future__ import annotations

import zlib
from typing import NamedTuple

from pytest_fcall.backends.fields import Damaged
from pytest_fcall.backends.lines import entry_line, entry_of, row_of
from pytest_fcall.backends.recorded import Recorded
from pytest_fcall.core import Tool


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
    checksum: int
    """Tells a row that was changed on the disk, which SQLite does not notice."""


def to_row(model: str, file: str, entry: Recorded, catalogue: str) -> Row:
    """Raises ValueError where the reply holds something that JSON cannot say."""
    line = entry_line(entry, catalogue).encode()
    model, file = plain(model), plain(file)
    checksum = _checksum(model, file, line)
    seconds = entry.moment
    return Row(entry.digest, model, file, entry.request.sample, seconds, catalogue, line, checksum)


def from_row(row: Row, tools: tuple[Tool, ...]) -> Recorded:
    """Raises Damaged where the row is not as it was written."""
    if row.checksum != _checksum(row.model, row.file, row.entry):
        raise Damaged("a reply was changed on the disk")
    entry = entry_of(row_of(row.entry), tools)
    if entry.digest != row.digest:
        raise Damaged("a reply stands under another one's name")
    return entry


def plain(name: str) -> str:
    """The name as the database can hold it: it knows no lone surrogates."""
    return name.encode("utf-8", "backslashreplace").decode()


def _checksum(model: str, file: str, line: bytes) -> int:
    return zlib.crc32(f"{model}\0{file}\0".encode() + line)
