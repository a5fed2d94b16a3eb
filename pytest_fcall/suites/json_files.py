"""JSON and JSON Lines files of suites, plain or gzipped: rows with their locations, typed fields, and named faults."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from pytest_fcall.core import json_data
from pytest_fcall.core.case import Fault, FaultyCase, Location
from pytest_fcall.core.files import MOST_KEPT_BYTES, LineStream, UnfitFile, bounded_lines, open_regular
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.strict_json import NotJson, parse_json

_GZIP = b"\x1f\x8b"


class BrokenRow(ValueError):
    """A line is not a record, or a record is not a valid row. The text says why."""


class BrokenFile(OSError):
    """A compressed file is truncated or damaged, or a line or all of it is too long. The text says why."""


@dataclass(frozen=True, slots=True)
class FileRow:
    """One line of a JSON Lines file."""

    location: Location
    data: Mapping[str, Json]
    fault: str = ""
    """The reason why the line is not a record; `data` is empty then."""

    @property
    def record(self) -> Mapping[str, Json]:
        """The data. Raises BrokenRow for a line that is not a record."""
        if self.fault:
            raise BrokenRow(self.fault)
        return self.data


def read_rows(path: Path) -> Iterator[FileRow]:
    """Read the lines of a file that are not blank. Raises OSError for a file that cannot be read."""
    with open_lines(path) as stream:
        for number, line in enumerate(read_lines(stream), 1):
            if line.strip():
                yield parse_row(path, number, line)


def parse_row(path: Path, number: int, line: bytes) -> FileRow:
    """Parse one line of a file; a broken line is a row with a fault."""
    location = Location(str(path), number)
    try:
        return FileRow(location, parse_record(line))
    except BrokenRow as error:
        return FileRow(location, {}, str(error))


def count_rows(path: Path) -> int:
    """Count the lines of a file that are not blank, without parsing them. Raises OSError."""
    with open_lines(path) as stream:
        return sum(1 for line in read_lines(stream) if line.strip())


def parse_record(line: bytes) -> Mapping[str, Json]:
    """Parse one line, which must be a JSON object; NaN and infinities are accepted. Raises BrokenRow."""
    try:
        value = json_data.read_json(line)
    except ValueError as error:
        raise BrokenRow(str(error)) from None
    if not isinstance(value, Mapping):
        raise BrokenRow(f"expected a JSON object, got {'null' if value is None else type(value).__name__}")
    return value


@contextmanager
def open_lines(path: Path) -> Iterator[BufferedReader | gzip.GzipFile]:
    """Open a file of lines. The content decides whether it is decompressed, not the name."""
    with open_regular(path) as file, decompress_stream(file) as lines:
        yield lines


@contextmanager
def decompress_stream(stream: BufferedReader) -> Iterator[BufferedReader | gzip.GzipFile]:
    """Read `stream` through gzip if it holds gzip."""
    if not stream.peek(2).startswith(_GZIP):
        yield stream
        return
    with gzip.GzipFile(fileobj=stream) as unpacked:
        yield unpacked


def read_lines(stream: LineStream) -> Iterator[bytes]:
    """Yield the lines of a stream. Raises BrokenFile for truncated or damaged gzip, and for a line that is too long."""
    try:
        yield from bounded_lines(stream)
    except UnfitFile as error:
        raise BrokenFile(error.strerror) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BrokenFile(f"the compressed data breaks off: {error}") from None


def read_json(path: Path) -> Json:
    """Read a file that is one JSON value. Raises OSError, or ValueError for a file that is not JSON."""
    return read_json_text(path)[1]


def read_json_text(path: Path) -> tuple[str, Json]:
    """Return the text of a JSON file and its value. Raises as `read_json` does."""
    data = _content(path)
    try:
        text = data.decode("utf-8-sig")
        value, _ = parse_json(text)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: {error.reason} at byte {error.start + 1}") from None
    except NotJson as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    return text, value


def _content(path: Path) -> bytes:
    """All of a file, decompressed. Raises OSError."""
    with open_lines(path) as stream:
        try:
            content = stream.read(MOST_KEPT_BYTES + 1)
        except (EOFError, zlib.error) as error:
            raise BrokenFile(f"the compressed data breaks off: {error}") from None
    if len(content) > MOST_KEPT_BYTES:
        raise BrokenFile(f"it is larger than {MOST_KEPT_BYTES // 2**20:,} MiB")
    return content


def find_file(folder: Path, name: str, folders: Sequence[str] = ("",)) -> Path | None:
    """Return the first `name`, or `name.gz`, in these folders below a folder; None without one."""
    paths = (folder / inside / each for inside in folders for each in (name, f"{name}.gz"))
    return next((path for path in paths if path.is_file()), None)


def required_file(folder: Path, name: str, folders: Sequence[str], origin: str) -> Path:
    """Return what `find_file` finds. Raises ValueError, with the way to get the data, where there is no such file."""
    if path := find_file(folder, name, folders):
        return path
    raise ValueError(f"no {name} in {folder}: {origin}")


def required_path(path: Path | None, suite: str, origin: str) -> Path:
    """Return the path of a suite's data. Raises ValueError, with the way to get the data, if it is None."""
    if path is None:
        raise ValueError(f"no data for suite {suite}: {origin}")
    return path


def broken_case(id_: str, location: Location, why: str) -> FaultyCase:
    """Return the case of a row that cannot be read."""
    return FaultyCase(id_, location, (row_fault(location, why),))


def row_fault(location: Location, why: str) -> Fault:
    """Return the fault of a row that cannot be read."""
    return Fault("bad-row", location, f"invalid row: {why}")


def string_field(row: Mapping[str, Json], name: str) -> str:
    """Return a field that must be a string. Raises BrokenRow, as the other fields do."""
    value = _required_field(row, name)
    if not isinstance(value, str):
        raise BrokenRow(f"`{name}` must be a string")
    return value


def text_field(row: Mapping[str, Json], name: str) -> str:
    """Return a field that must be a string with text in it, without the blanks around it."""
    if isinstance(text := row.get(name), str) and text.strip():
        return text.strip()
    raise BrokenRow(f"`{name}` must be a non-empty string")


def boolean_field(row: Mapping[str, Json], name: str) -> bool:
    """Return a boolean field; False if it is missing."""
    value = row.get(name, False)
    if not isinstance(value, bool):
        raise BrokenRow(f"`{name}` must be a boolean")
    return value


def list_field(row: Mapping[str, Json], name: str) -> Sequence[Json]:
    """Return a field that must be a list."""
    value = row.get(name)
    if not isinstance(value, list):
        raise BrokenRow(f"`{name}` must be a list")
    return value


def objects_field(row: Mapping[str, Json], name: str) -> list[Mapping[str, Json]]:
    """Return a field that must be a list of objects; null is an empty list."""
    value = _required_field(row, name)
    items = [] if value is None else value
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise BrokenRow(f"`{name}` must be a list of objects")
    return [item for item in items if isinstance(item, Mapping)]


def _required_field(row: Mapping[str, Json], name: str) -> Json:
    if name not in row:
        raise BrokenRow(f"missing `{name}`")
    return row[name]
