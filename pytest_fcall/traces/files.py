"""Files of traces, recognised by their content, and the records in them."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path
from typing import Final, NamedTuple

from pytest_fcall.backends.recordings.file import BOOKKEEPING_SUFFIX
from pytest_fcall.core.files import open_regular
from pytest_fcall.core.values import Json
from pytest_fcall.traces.formats import (
    adk,
    braintrust,
    deepeval,
    evalview,
    exchanges,
    inspect,
    langfuse,
    langsmith,
    otel,
    promptfoo,
    promptfoo_files,
    pydantic_evals,
    recordings,
    toolscore,
)
from pytest_fcall.traces.record import SkippedEntry, TraceEntry, UnreadableTrace, UnusableRecord
from pytest_fcall.traces.values import MOST_BYTES, document_text, document_value, json_documents, mapping, read_json


class Format(NamedTuple):
    """One format of traces."""

    title: str
    matches: Callable[[Mapping[str, Json]], bool]
    read: Callable[[Mapping[str, Json], str], Iterator[TraceEntry]]
    with_files: Callable[[Mapping[str, Json], Path], Mapping[str, Json]] | None = None
    """Inserts the content of other files that belong to the document, from its folder."""
    whole: Callable[[Sequence[Json]], Mapping[str, Json] | None] | None = None
    """The one document that a list is; None for a list of several, or of another format."""


FORMATS: Final[Sequence[Format]] = (
    Format("OpenTelemetry spans", otel.matches, otel.read),
    Format("LangSmith runs", langsmith.matches, langsmith.read),
    Format("Langfuse observations", langfuse.matches, langfuse.read),
    Format("inspect_ai logs", inspect.matches, inspect.read),
    Format("promptfoo configurations and results", promptfoo.matches, promptfoo.read, promptfoo_files.with_files),
    Format("evaluation sets of Google's ADK", adk.matches, adk.read, adk.with_files, adk.session_of_rows),
    Format("pydantic-evals data sets", pydantic_evals.matches, pydantic_evals.read),
    Format("EvalView test cases", evalview.matches, evalview.read),
    Format("deepeval goldens and test cases", deepeval.matches, deepeval.read),
    Format("LangSmith examples", langsmith.matches_example, langsmith.read_example),
    Format("Braintrust data sets", braintrust.matches, braintrust.read),
    Format(
        "Toolscore gold files", toolscore.matches, toolscore.read, toolscore.with_files, toolscore.gold_file_of_calls
    ),
    Format("requests and answers of Chat Completions, Responses or Messages", exchanges.matches, exchanges.read),
)

_KNOWN_FORMATS: Final = ", ".join((*(each.title for each in FORMATS), "recorded replies"))
_LONGEST_LINE: Final = 32 * 2**20
_OBJECT_LINE: Final = re.compile(rb"^\{", re.MULTILINE)
_SQLITE, _ZIP, _GZIP = b"SQLite format 3\0", b"PK\x03\x04", b"\x1f\x8b"
_WRAPPERS: Final = ("data", "runs", "observations", "traces", "items", "records", "logs", "spans")


def format_of(data: Mapping[str, Json]) -> Format | None:
    """The format of a document; None where it is unknown."""
    return next((each for each in FORMATS if each.matches(data)), None)


def trace_files(source: Path) -> list[Path]:
    """The file itself, or all files below a folder; neither hidden ones nor those that are read with another."""
    if source.is_file():
        return [source]
    files: list[Path] = []
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files += (
            Path(folder, name)
            for name in sorted(names)
            if not name.startswith(".") and not name.endswith(BOOKKEEPING_SUFFIX)
        )
    return files


def records_of(path: Path) -> Iterator[TraceEntry]:
    """The records of a file, one by one. Raises UnreadableTrace for a file without traces."""
    try:
        with open_regular(path) as file:
            start = file.peek(16)
            if start.startswith(_SQLITE):
                yield from recordings.store_records(path)
            elif start.startswith(_ZIP):
                yield from inspect.file_records(path)
            else:
                packed = start.startswith(_GZIP)
                yield from _text_records(path, BufferedReader(gzip.GzipFile(fileobj=file)) if packed else file)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UnreadableTrace(f"the compressed data is damaged: {error}") from None
    except OSError as error:
        raise UnreadableTrace(f"the file cannot be read: {error.strerror or error}") from None


def _text_records(path: Path, file: BufferedReader) -> Iterator[TraceEntry]:
    lines = _lines(file)
    ahead = list(islice((each for each in lines if each[1].strip()), 2))
    if not ahead:
        raise UnreadableTrace("the file is empty")
    values = [_json_value(line) for _, line in ahead]
    kind = values[0].get("fcall") if isinstance(values[0], Mapping) else None
    if kind == "replies":
        yield from recordings.file_records(path)
    elif kind == "recorded":
        raise UnreadableTrace("this is the bookkeeping of recordings: give the file ….replies.jsonl beside it")
    elif any(isinstance(each, Mapping) for each in values):
        yield from _format_records(_line_values(path.name, chain(ahead, lines)), path.parent)
    else:
        content = b"".join((*(line for _, line in ahead), file.read(MOST_BYTES)))
        yield from _format_records(_document_values(content, path.name), path.parent)


def _document_values(content: bytes, name: str) -> Iterator[tuple[str, Json | SkippedEntry]]:
    """The value of a JSON or YAML document; else those of the JSON objects in it, which may have lines between them."""
    try:
        yield name, document_value(content, name)
    except UnreadableTrace as problem:
        documents = list(json_documents(document_text(content))) if _OBJECT_LINE.search(content) else []
        if all(value is None for _, value in documents):
            raise UnreadableTrace(f"{problem}; known formats: {_KNOWN_FORMATS}") from None
        for number, (line, value) in enumerate(documents, 1):
            place, extent = f"{name}:{line}", "from here on" if number == len(documents) else "up to the next object"
            yield place, SkippedEntry(place, f"not JSON {extent}") if value is None else value


def _lines(file: BufferedReader) -> Iterator[tuple[int, bytes]]:
    """The lines with their numbers. A line longer than any log has is cut."""
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
                yield place, SkippedEntry(place, "not text in UTF-8")
            except ValueError as error:
                yield place, SkippedEntry(place, str(error))


def _format_records(values: Iterator[tuple[str, Json | SkippedEntry]], folder: Path) -> Iterator[TraceEntry]:
    """The records of values from a file in `folder`. Raises UnreadableTrace at the end where no format is known."""
    any_known = False
    for place, value in values:
        if isinstance(value, SkippedEntry):
            yield value
            continue
        for where, document, known in _documents(value, place):
            if known is None:
                yield SkippedEntry(where, "unknown format")
                continue
            any_known = True
            try:
                complete = document if known.with_files is None else known.with_files(document, folder)
                yield from known.read(complete, where)
            except UnusableRecord as problem:
                yield SkippedEntry(where, str(problem))
    if not any_known:
        raise UnreadableTrace(f"no traces found; known formats: {_KNOWN_FORMATS}")


def _documents(value: Json, place: str) -> Iterator[tuple[str, Mapping[str, Json], Format | None]]:
    """The documents in a value, with their formats: the value itself, or the items of a list, wrapped or not."""
    if isinstance(value, Mapping):
        known = format_of(value)
        wrapped = next((value[name] for name in _WRAPPERS if isinstance(value.get(name), list)), None)
        if known is not None or wrapped is None:
            yield place, value, known
            return
        value = wrapped
    if not isinstance(value, list):
        yield place, {}, None
        return
    for known in FORMATS:
        if known.whole is not None and (joined := known.whole(value)) is not None:
            yield place, joined, known
            return
    for number, item in enumerate(value, 1):
        document = mapping(item)
        yield f"{place}, item {number}", document, format_of(document)
