"""Rows of stored answers: read in portions, and judged by the judge of their format."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Protocol, TypeAlias

from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_files import BrokenFile, BrokenRow, decompressed, parse_record, read_lines

_MOST_LINES = 64
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Portion:
    """Some lines of a file, which follow one another.

    `broken` says why the file cannot be read beyond them.
    """

    file: str
    first: int
    lines: tuple[bytes, ...]
    broken: str | None = None


def check_readable(parser: ArgumentParser, files: Sequence[str]) -> None:
    """End the program through `parser` where a file cannot be opened, before anything is judged."""
    if files.count("-") > 1:
        parser.error("standard input (-) can be read only once")
    for name in files:
        try:
            with _open_rows(name):
                pass
        except OSError as error:
            parser.error(f"cannot read {_file_title(name)}: {error.strerror}")


def row_portions(files: Iterable[str]) -> Iterator[Portion]:
    """Cut the lines of all files into portions."""
    for name in files:
        with _open_rows(name) as file, decompressed(file) as stream:
            yield from _file_portions(_file_title(name), stream)


def _open_rows(name: str) -> BufferedReader:
    return open(0, "rb", closefd=False) if name == "-" else Path(name).open("rb")


def _file_title(name: str) -> str:
    return "standard input" if name == "-" else name


def _file_portions(name: str, stream: Iterable[bytes]) -> Iterator[Portion]:
    first, taken, size = 1, list[bytes](), 0
    broken: str | None = None
    try:
        for line in read_lines(stream):
            taken.append(line)
            size += len(line)
            if len(taken) >= _MOST_LINES or size >= _MOST_BYTES:
                yield Portion(name, first, tuple(taken))
                first, taken, size = first + len(taken), [], 0
    except BrokenFile as error:
        broken = str(error)
    if taken or broken:
        yield Portion(name, first, tuple(taken), broken)


GroupFacts: TypeAlias = tuple[str, Mapping[str, bool]]
"""The name of a group of rows, and what is true of this one."""


@dataclass(frozen=True, slots=True)
class RowVerdict:
    """The verdict on a row, and where the profiles judge it differently, how: in a word, with what tells of it.

    With `counted` it is told at the end of how many rows of its group each word is true.
    """

    verdict: Mapping[str, Json]
    difference: tuple[str, Mapping[str, Json]] | None = None
    counted: GroupFacts | None = None


class RowJudge(Protocol):
    """Judges the rows of one format. Travels to other processes."""

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that name a row."""
        ...

    def earlier(self, row: Mapping[str, Json]) -> Mapping[str, Json]:
        """The verdict that a row brings along if it was judged before, or parts of it. Never looked at for judging."""
        ...

    def __call__(self, row: Mapping[str, Json]) -> RowVerdict:
        """Judge a row; BrokenRow says why that cannot be done."""
        ...


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """What became of one row.

    `line` is to be printed; with `broken` it says why there is no verdict. `compared` tells for each field of the
    verdict that the row brings along how the two differ, and None where they are the same.
    """

    place: str
    line: str
    broken: bool = False
    compared: Mapping[str, str | None] = field(default_factory=dict)
    difference: str | None = None
    difference_line: str = ""
    counted: GroupFacts | None = None


@dataclass(frozen=True, slots=True)
class PortionJudge:
    """What is done to a portion; an object, since work for other processes must be."""

    judge: RowJudge

    def __call__(self, portion: Portion) -> list[JudgedRow]:
        """Judge the lines; empty ones are passed over."""
        return list(self._judged(portion))

    def _judged(self, portion: Portion) -> Iterator[JudgedRow]:
        for number, line in enumerate(portion.lines, portion.first):
            if line.strip():
                yield self._line(f"{portion.file}:{number}", line)
        if portion.broken is not None:
            yield _broken_row(f"{portion.file}:{portion.first + len(portion.lines)}", portion.broken, {})

    def _line(self, place: str, line: bytes) -> JudgedRow:
        row: Mapping[str, Json] = {}
        try:
            row = parse_record(line)
            judgement = self.judge(row)
        except BrokenRow as error:
            return _broken_row(place, str(error), {key: row[key] for key in self.judge.names if key in row})
        verdict = judgement.verdict
        earlier = self.judge.earlier(row)
        compared = {key: _disagreement(key, verdict[key], earlier[key]) for key in verdict if key in earlier}
        if judgement.difference is None:
            return JudgedRow(place, json.dumps(verdict), compared=compared, counted=judgement.counted)
        name, told = judgement.difference
        told_line = json.dumps({"place": place, **told})
        return JudgedRow(place, json.dumps(verdict), False, compared, name, told_line, judgement.counted)


def object_field(row: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """The object in a field of a row; an empty one where there is none."""
    found = row.get(name)
    return found if isinstance(found, Mapping) else {}


def _disagreement(key: str, now: Json, before: Json) -> str | None:
    return None if now == before else f"{key} is {json.dumps(now)}, the row has {json.dumps(before):.200}"


def _broken_row(place: str, why: str, named: Mapping[str, Json]) -> JudgedRow:
    return JudgedRow(place, json.dumps({**named, "error": f"{place}: {why}"}), broken=True)
