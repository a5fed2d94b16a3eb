"""Replies and tool catalogues as rows, whatever the database, and files of rows that a database could not take.

Nothing that was paid for is lost where the disk is full, the database locked or its server gone. Who opens the database
next takes the files in that lie in its folder, `replies.rescued-…jsonl`: a line of JSON for each row. They need no
locks, and much less room than a database.
"""

from __future__ import annotations

import base64
import json
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
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
from pytest_fcall.core.digests import catalogue_digest
from pytest_fcall.core.files import PRIVATE_MODE, replace_file
from pytest_fcall.core.json_data import DamagedData, optional_field, read_own_json
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.core.secrets import Secrets

_LARGEST_INTEGER = 2**63 - 1

Tools: TypeAlias = tuple[Tool, ...]


class RecordingRow(NamedTuple):
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


def to_row(model: str, file: str, entry: Recording | UnreadRecording, secrets: Secrets) -> RecordingRow:
    """The recording as a row, without secrets. Raises ValueError if the reply is not valid JSON data."""
    request = entry.request
    catalogue = catalogue_digest(request.tools)
    line = secrets.redacted(recording_line(entry, catalogue)).encode()
    sample = max(-_LARGEST_INTEGER, min(request.sample, _LARGEST_INTEGER))
    names = storable(entry.digest), storable(model), storable(file), sample, entry.timestamp, catalogue
    return RecordingRow(*names, line, _checksum(names, line))


def from_row(row: RecordingRow, tools: Tools, request: Request | None = None) -> Recording:
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

    row: RecordingRow
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
                    row = RecordingRow(digest, model, file, sample, float(recorded), catalogue, line, checksum)
                    yield SoundReply(row, storable(from_row(row, ()).case))


_WORD = "rescued"


def rescue(path: Path, rows: Iterable[RecordingRow], catalogues: Mapping[str, Tools]) -> Path:
    """Write rows into a file named after `path` and beside it, or else among temporary files. Raises OSError."""
    content = "".join(f"{json.dumps(line)}\n" for line in _lines(rows, catalogues)).encode()
    names = (path.with_name(f"{path.stem}.{_WORD}-{os.getpid()}-{number}.jsonl") for number in count(1))
    try:
        target = next(name for name in names if not name.exists())
        replace_file(target, [content], PRIVATE_MODE)
    except OSError:
        return _among_temporary_files(path, content)
    return target


def is_rescued(path: Path) -> bool:
    """Whether this is the name of such a file."""
    return f".{_WORD}-" in path.name and path.suffix == ".jsonl"


def rescued_beside(path: Path) -> Iterator[Path]:
    """The files of `rescue` beside this one."""
    for rescued in path.parent.glob(f"{path.stem}.{_WORD}-*.jsonl"):
        if rescued.is_file() and not rescued.is_symlink():
            yield rescued


def read_rescued(rescued: Path) -> Iterator[tuple[Value, ...]]:
    """The records of a file; a line that was changed is passed over. Raises OSError."""
    return _records(rescued.read_bytes())


def _among_temporary_files(path: Path, content: bytes) -> Path:
    descriptor, name = tempfile.mkstemp(".jsonl", f"fcall-{path.stem}.{_WORD}-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
    except OSError:
        with suppress(OSError):
            Path(name).unlink()
        raise
    return Path(name)


def _lines(rows: Iterable[RecordingRow], catalogues: Mapping[str, Tools]) -> Iterator[list[object]]:
    """Records as those of the tables; bytes are in Base64, in a list of their own."""
    for digest, tools in catalogues.items():
        yield [digest, _written(catalogue_line(digest, tools).encode())]
    for row in rows:
        yield [_written(value) if isinstance(value, bytes) else value for value in row]


def _written(value: bytes) -> list[str]:
    return [base64.b64encode(value).decode()]


def _records(content: bytes) -> Iterator[tuple[Value, ...]]:
    """The records of a file; a line that was changed is passed over."""
    for line in content.splitlines():
        with suppress(ValueError):
            record = read_own_json(line)
            if isinstance(record, list):
                yield tuple(map(_value, record))


def _value(value: object) -> Value:
    """A value of a record. Raises ValueError."""
    match value:
        case str() | int() | float() | None:
            return value
        case [str(encoded)]:
            return base64.b64decode(encoded, validate=True)
    raise ValueError("a value that no record has")
