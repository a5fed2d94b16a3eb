"""Replies and tool catalogues as rows, whatever the database."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeAlias

from pytest_fcall.backends.recordings.entry import Recording, UnreadRecording
from pytest_fcall.backends.recordings.line import (
    catalogue_of,
    line_fields,
    recording_line,
    recording_of,
    request_of,
)
from pytest_fcall.core import Request, Tool, catalogue_digest
from pytest_fcall.core.json_data import DamagedData, optional_field
from pytest_fcall.core.secrets import Secrets

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
    """The name without what a database cannot hold: lone surrogates, and zeros."""
    text = name if name.isascii() else name.encode("utf-8", "backslashreplace").decode()
    return text.replace("\0", "\\x00")


def read_catalogue(digest: str, line: bytes) -> Tools:
    """The tools in a line. Raises DamagedData if they are not the catalogue with this digest."""
    if not isinstance(line, bytes):  # in a damaged file
        raise DamagedData("a catalogue of tools was changed on the disk")
    tools = catalogue_of(line_fields(line))
    if catalogue_digest(tools) != digest:
        raise DamagedData("a catalogue of tools was changed on the disk")
    return tools


Value: TypeAlias = int | float | str | bytes | None


class CatalogueRow(NamedTuple):
    """A row of the table `catalogues`, as it is written."""

    digest: str
    line: bytes


class SoundReply(NamedTuple):
    """A row of the table `replies`, and the case whose request was answered."""

    row: Row
    case: str


def sound_rows(records: Iterable[Sequence[Value]]) -> Iterator[CatalogueRow | SoundReply]:
    """The records that are undamaged rows of one of the two tables. A record may hold anything."""
    for record in records:
        match record:
            case (str() as digest, bytes() as line):
                with suppress(DamagedData):
                    read_catalogue(digest, line)
                    yield CatalogueRow(digest, line)
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
                with suppress(DamagedData, OverflowError):
                    row = Row(digest, model, file, sample, float(recorded), catalogue, line, checksum)
                    yield SoundReply(row, storable(from_row(row, ()).case))
