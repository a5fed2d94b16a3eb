"""JSON and JSON Lines files, plain or gzipped, with errors that say which file or row is broken."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from pytest_fcall.core.values import Json
from pytest_fcall.decoding.strict_json import NotJson, parse_json

_GZIP = b"\x1f\x8b"


class BrokenRow(ValueError):
    """A line that is no record, or a record that is no row of its kind. The text says why."""


class BrokenFile(OSError):
    """A file that ends before its end. The text says why."""


@contextmanager
def open_lines(path: Path) -> Iterator[Iterable[bytes]]:
    """Open a file of lines; whether it is compressed is told by its content, not by its name."""
    with path.open("rb") as file, decompressed(file) as lines:
        yield lines


@contextmanager
def decompressed(stream: BufferedReader) -> Iterator[Iterable[bytes]]:
    """Read `stream` through gzip where that is what it holds."""
    if not stream.peek(2).startswith(_GZIP):
        yield stream
        return
    with gzip.GzipFile(fileobj=stream) as unpacked:
        yield unpacked


def read_lines(stream: Iterable[bytes]) -> Iterator[bytes]:
    """Give the lines of a stream; BrokenFile where a compressed one breaks off."""
    try:
        yield from stream
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BrokenFile(f"the compressed data breaks off: {error}") from None


def parse_record(line: bytes) -> Mapping[str, Json]:
    """Read one line, which must be a JSON object; NaN and infinities may stand in it."""
    try:
        value = json.loads(line)
    except UnicodeDecodeError as error:
        raise BrokenRow(f"it is not UTF-8: {error.reason} at byte {error.start + 1}") from None
    except json.JSONDecodeError as error:
        raise BrokenRow(f"it is not JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise BrokenRow("it is nested too deeply") from None
    except ValueError:  # Python's limit on the digits of a whole number
        raise BrokenRow("it holds a whole number of thousands of digits") from None
    if not isinstance(value, Mapping):
        raise BrokenRow(f"it is not a JSON object but {'null' if value is None else type(value).__name__}")
    return value


def read_json(path: Path) -> Json:
    """Read a file that is one JSON value. OSError where it cannot be read, ValueError where it is no JSON."""
    return read_json_text(path)[1]


def read_json_text(path: Path) -> tuple[str, Json]:
    """Read the same, and give its text, too."""
    with open_lines(path) as stream:
        data = b"".join(read_lines(stream))
    try:
        text = data.decode("utf-8-sig")
        value, _ = parse_json(text)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: {error.reason} at byte {error.start + 1}") from None
    except NotJson as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    return text, value
