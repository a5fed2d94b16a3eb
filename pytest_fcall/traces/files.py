"""Files of traces, told apart by their content, and the records in them."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path
from typing import Final, NamedTuple

from pytest_fcall.core import Json
from pytest_fcall.traces.formats import exchanges, inspect, langfuse, langsmith, otel, promptfoo, recordings
from pytest_fcall.traces.formats.promptfoo import with_files
from pytest_fcall.traces.record import Record, SkippedEntry, UnreadableTrace, UnusableRecord
from pytest_fcall.traces.values import MOST_BYTES, document_value, mapping, read_json


class Format(NamedTuple):
    """One kind of log."""

    title: str
    recognises: Callable[[Mapping[str, Json]], bool]
    read: Callable[[Mapping[str, Json], str], Iterator[Record | SkippedEntry]]
    gather: Callable[[Mapping[str, Json], Path], Mapping[str, Json]] | None = None
    """Puts in what the document has in other files, from the folder that it is in."""


FORMATS: Final[Sequence[Format]] = (
    Format("OpenTelemetry spans", otel.recognises, otel.read),
    Format("LangSmith runs", langsmith.recognises, langsmith.read),
    Format("Langfuse observations", langfuse.recognises, langfuse.read),
    Format("inspect_ai logs", inspect.recognises, inspect.read),
    Format("promptfoo configurations and results", promptfoo.recognises, promptfoo.read, with_files),
    Format("requests and answers of Chat Completions, Responses or Messages", exchanges.recognises, exchanges.read),
)

READABLE_FORMATS: Final = ", ".join((*(each.title for each in FORMATS), "recorded replies"))


def format_of(told: Mapping[str, Json]) -> Format | None:
    """The format of a document; None where it is none."""
    return next((each for each in FORMATS if each.recognises(told)), None)


_LONGEST_LINE: Final = 32 * 2**20
_SQLITE, _ZIP, _GZIP = b"SQLite format 3\0", b"PK\x03\x04", b"\x1f\x8b"
_WRAPPERS: Final = ("data", "runs", "observations", "traces", "items", "records", "logs", "spans")


def trace_files(source: Path) -> list[Path]:
    """The file itself, or all files below a folder but for hidden ones."""
    if source.is_file():
        return [source]
    found: list[Path] = []
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += (Path(folder, name) for name in sorted(names) if not name.startswith("."))
    return found


def records_of(path: Path) -> Iterator[Record | SkippedEntry]:
    """What a file holds, record by record. Raises Unreadable for a file that holds no traces."""
    try:
        with path.open("rb") as file:
            start = file.peek(16)
            if start.startswith(_SQLITE):
                yield from recordings.of_store(path)
            elif start.startswith(_ZIP):
                yield from inspect.of_file(path)
            else:
                packed = start.startswith(_GZIP)
                yield from _text_records(path, BufferedReader(gzip.GzipFile(fileobj=file)) if packed else file)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UnreadableTrace(f"the compressed data breaks off: {error}") from None
    except OSError as error:
        raise UnreadableTrace(f"it cannot be read: {error.strerror or error}") from None


def _text_records(path: Path, file: BufferedReader) -> Iterator[Record | SkippedEntry]:
    lines = _lines(file)
    ahead = list(islice((each for each in lines if each[1].strip()), 2))
    if not ahead:
        raise UnreadableTrace("it is empty")
    told = [_json_value(line) for _, line in ahead]
    if isinstance(told[0], Mapping) and told[0].get("fcall") == "replies":
        yield from recordings.of_file(path)
    elif any(isinstance(each, Mapping) for each in told):
        yield from _format_records(_line_values(path.name, chain(ahead, lines)), path.parent)
    else:
        whole = b"".join((*(line for _, line in ahead), file.read(MOST_BYTES)))
        yield from _format_records(iter([(path.name, _document(whole, path.name))]), path.parent)


def _lines(file: BufferedReader) -> Iterator[tuple[int, bytes]]:
    """The lines with their numbers; of one that is longer than any line of a log, its beginning."""
    number = 0
    while line := file.readline(_LONGEST_LINE):
        number += 1
        yield number, line
        while not line.endswith(b"\n") and len(line) == _LONGEST_LINE:
            line = file.readline(_LONGEST_LINE)


def _json_value(line: bytes) -> Json:
    try:
        return read_json(line.decode("utf-8-sig"))
    except ValueError:
        return None


def _line_values(name: str, lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[str, Json | SkippedEntry]]:
    for number, line in lines:
        if line.strip():
            place = f"{name}:{number}"
            try:
                yield place, read_json(line.decode("utf-8-sig"))
            except UnicodeDecodeError:
                yield place, SkippedEntry(place, "it is not UTF-8")
            except ValueError as error:
                yield place, SkippedEntry(place, str(error))


def _document(content: bytes, name: str) -> Json:
    try:
        return document_value(content, name)
    except UnreadableTrace as why:
        raise UnreadableTrace(f"{why}; looked for: {READABLE_FORMATS}") from None


def _format_records(values: Iterator[tuple[str, Json | SkippedEntry]], folder: Path) -> Iterator[Record | SkippedEntry]:
    """The records of values of known formats, which were in `folder`. Unreadable, at the end, where none was."""
    known = False
    for place, value in values:
        if isinstance(value, SkippedEntry):
            yield value
            continue
        for where, told in _documents(value, place):
            if (found := format_of(told)) is None:
                yield SkippedEntry(where, "it is of no known format")
                continue
            known = True
            try:
                yield from found.read(told if found.gather is None else found.gather(told, folder), where)
            except UnusableRecord as why:
                yield SkippedEntry(where, str(why))
    if not known:
        raise UnreadableTrace(f"it holds no traces; looked for: {READABLE_FORMATS}")


def _documents(value: Json, place: str) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """The documents in a value: itself, or the items of a list, whatever it is wrapped in."""
    if isinstance(value, Mapping) and format_of(value) is None:
        value = next((value[name] for name in _WRAPPERS if isinstance(value.get(name), list)), value)
    if not isinstance(value, list):
        yield place, mapping(value)
        return
    for number, item in enumerate(value, 1):
        yield f"{place}, item {number}", mapping(item)
