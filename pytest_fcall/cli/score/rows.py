"""Rows of stored answers: read in batches, and judged by the judge of their format."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from pytest_fcall.cli.score.parquet_rows import parquet_lines
from pytest_fcall.core.extension import Table
from pytest_fcall.core.parquet import SUFFIX
from pytest_fcall.core.storage import Folder, address_in, folder_and_name, is_address, open_address, title_of
from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_files import BrokenRow, decompress_stream, parse_record, read_lines

_MOST_LINES = 64
_MOST_BYTES = 1 << 20
_MOST_AHEAD = 64
"""Batches of a file that are read before the first is judged, if rows leave open how to read them."""


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Consecutive lines of a file."""

    file: str
    first: int
    """The number of the first line."""
    lines: tuple[bytes, ...]
    broken: str | None = None
    """The reason why the file cannot be read beyond these lines."""
    habits: object = None
    """The findings of the judge of the format about the file, from its first lines."""


def check_readable(parser: ArgumentParser, files: Sequence[str]) -> None:
    """End the program through `parser` where a file cannot be opened, before anything is judged."""
    if files.count("-") > 1:
        parser.error("standard input (-) can be read only once")
    for name in files:
        try:
            with _open_rows(name):
                pass
        except OSError as error:
            parser.error(f"cannot read {_file_title(name)}: {error.strerror or error}")


def row_files(parser: ArgumentParser, names: Iterable[str], endings: tuple[str, ...]) -> list[str]:
    """The files of these names, and of folders all files in them with these endings.

    A folder without any ends the program through `parser`.
    """
    found: list[str] = []
    for name in names:
        if (inside := _files_inside(parser, name, endings)) is None:
            found.append(name)
        elif inside:
            found += inside
        else:
            parser.error(f"{name} is a folder without files that end in {' or '.join(endings)}")
    return found


def _files_inside(parser: ArgumentParser, name: str, endings: tuple[str, ...]) -> list[str] | None:
    """The files of a folder, which has a slash behind its name where it is an address; None for a file."""
    if is_address(name):
        if folder_and_name(name)[1]:
            return None
        try:
            return [address_in(name, each) for each in Folder(name).names() if each.endswith(endings)]
        except OSError as error:
            parser.error(f"cannot read {title_of(name)}: {error.strerror or error}")
    if name == "-" or not Path(name).is_dir():
        return None
    return sorted(str(path) for path in Path(name).rglob("*") if path.name.endswith(endings))


def add_column_option(parser: ArgumentParser) -> None:
    """Add the option for columns of Parquet that hold JSON."""
    parser.add_argument(
        "--json-columns",
        type=lambda text: frozenset(text.split(",")),
        default=frozenset(),
        metavar="NAME,…",
        help="columns of Parquet that hold JSON as text, beside those whose type says so",
    )


def _row_lines(judge: RowJudge, name: str, as_json: frozenset[str]) -> Iterator[bytes]:
    """The lines of a file, or those that are made of it. Raises OSError."""
    if (made := judge.lines_of(name)) is not None:
        yield from made
        return
    with _open_rows(name) as file:
        if folder_and_name(name)[1].endswith(SUFFIX):
            yield from parquet_lines(file, as_json)
            return
        with decompress_stream(file) as stream:
            yield from read_lines(stream)


def batches_for(judge: RowJudge, files: Iterable[str], as_json: frozenset[str] = frozenset()) -> Iterator[RowBatch]:
    """The lines of all files, in batches. The judge looks at the first ones of a file before any is judged.

    Of Parquet the columns `as_json` hold JSON as text.
    """
    for name in files:
        batches, of_file = _in_batches(_file_title(name), _row_lines(judge, name, as_json)), judge.of_file(name)
        first: list[RowBatch] = []
        for batch in islice(batches, _MOST_AHEAD):
            first.append(batch)
            if not of_file.has_open_rows(batch.lines):
                break
        habits = of_file.habits_of(line for batch in first for line in batch.lines)
        yield from (replace(batch, habits=habits) for batch in chain(first, batches))


def _open_rows(name: str) -> BufferedReader:
    if is_address(name):
        return open_address(name)
    return open(0, "rb", closefd=False) if name == "-" else Path(name).open("rb")


def _file_title(name: str) -> str:
    return "standard input" if name == "-" else title_of(name)


def _in_batches(name: str, all_lines: Iterator[bytes]) -> Iterator[RowBatch]:
    first, lines, size = 1, list[bytes](), 0
    broken: str | None = None
    try:
        for line in all_lines:
            lines.append(line)
            size += len(line)
            if len(lines) >= _MOST_LINES or size >= _MOST_BYTES:
                yield RowBatch(name, first, tuple(lines))
                first, lines, size = first + len(lines), [], 0
    except OSError as error:
        broken = error.strerror or str(error)
    if lines or broken:
        yield RowBatch(name, first, tuple(lines), broken)


class GroupFacts(NamedTuple):
    """Facts about a row, for the totals of its group."""

    group: str
    facts: Mapping[str, bool]


class GroupSums(NamedTuple):
    """The contribution of a row to the sums of its group."""

    group: tuple[str, ...]
    numbers: tuple[float, ...]


class GroupValues(NamedTuple):
    """Numbers of a row that are kept one by one, for figures that sums do not give."""

    group: tuple[str, ...]
    values: Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class RowVerdict:
    """The verdict on a row."""

    verdict: Mapping[str, Json]
    difference: tuple[str, Mapping[str, Json]] | None = None
    """A word for how the two profiles differ on the row, and the fields to write about it."""
    group_facts: GroupFacts | None = None
    """Facts to count for the totals at the end."""
    caution: str = ""
    """The note on all such rows together, since their verdicts are doubtful."""
    group_sums: Sequence[GroupSums] = ()
    """Numbers to add up for tables at the end."""
    group_values: GroupValues | None = None
    finding: object = None
    """The counts that the summary of the format has."""


@dataclass(frozen=True, slots=True)
class GroupTotals:
    """The totals of the rows of each group."""

    sums: dict[tuple[str, ...], list[float]] = field(default_factory=dict)
    values: dict[tuple[str, ...], dict[str, list[float]]] = field(default_factory=dict)

    def add(self, sums: Iterable[GroupSums], values: GroupValues | None) -> None:
        """Add those of a row."""
        for group, numbers in sums:
            before = self.sums.get(group, [0] * len(numbers))
            self.sums[group] = [one + other for one, other in zip(before, numbers, strict=True)]
        if values is not None:
            kept = self.values.setdefault(values.group, {})
            for name, own in values.values.items():
                kept.setdefault(name, []).extend(own)


class RowJudge(ABC):
    """Judges the rows of one format. It is pickled for other processes."""

    row_fields: ClassVar[tuple[str, ...]]
    """The fields that identify a row."""
    has_two_profiles: ClassVar[bool] = False
    """Whether rows are judged by two profiles that may differ."""
    file_endings: ClassVar[tuple[str, ...]] = ("_result.json", "_result.json.gz")
    """The ends of the names of files with rows, which are looked for in folders."""

    def lines_of(self, _: str) -> Iterator[bytes] | None:
        """Return the rows, as lines of JSON, of a file that holds them in another form; None for one with rows.

        Raises OSError, also while they are read.
        """
        return None

    def has_open_rows(self, _: Iterable[bytes]) -> bool:
        """Return whether some of these lines do not say everything that judging them needs."""
        return False

    def habits_of(self, _: Iterable[bytes]) -> object:
        """Return what the first lines of a file say about all of them."""
        return None

    def with_habits(self, _: Any) -> RowJudge:
        """Return the judge of the rows of a file, given what `habits_of` found out."""
        return self

    def of_file(self, _: str) -> RowJudge:
        """Return the judge of the rows of a file, if its name says something about them."""
        return self

    @abstractmethod
    def judge(self, row: Mapping[str, Json]) -> RowVerdict:
        """Judge a row. Raises BrokenRow where it cannot be judged."""

    def verdict_of_broken(self, row: Mapping[str, Json]) -> RowVerdict:
        """Return the fields that identify a row which cannot be judged, and what it adds to totals."""
        return RowVerdict({key: row[key] for key in self.row_fields if key in row})

    def recorded_verdict(self, row: Mapping[str, Json]) -> Mapping[str, Json]:
        """The verdict, or parts of it, that a row carries from an earlier judge. Never used for judging."""
        return object_field(row, "result")

    def skip_reason(self, _: str) -> str:
        """The reason not to judge the rows of a file; empty where they are judged."""
        return ""

    def tables(self, _: Mapping[tuple[str, ...], Sequence[float]]) -> Iterable[Table]:
        """The tables to print at the end, made of the sums of each group."""
        return ()

    def csv_files(self, _: GroupTotals) -> Iterable[tuple[str, str]]:
        """The names and texts of the suite's own tables, the chief one first; none where it has none of its own."""
        return ()


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """The outcome of one row."""

    place: str
    line: str
    """The line to print: the verdict, or why there is none."""
    problem: str = ""
    """The reason why there is no verdict; empty where there is one."""
    comparison: Mapping[str, str | None] = field(default_factory=dict)
    """Each field of the recorded verdict, with its difference from ours, or None."""
    difference: str | None = None
    difference_line: str = ""
    group_facts: GroupFacts | None = None
    caution: str = ""
    group_sums: Sequence[GroupSums] = ()
    group_values: GroupValues | None = None
    finding: object = None


def judge_batch(judge: RowJudge, batch: RowBatch) -> list[JudgedRow]:
    """Judge the lines of a batch. Empty lines are skipped."""
    judge = judge.with_habits(batch.habits).of_file(batch.file)
    judged = [
        _judged_row(judge, f"{batch.file}:{number}", line)
        for number, line in enumerate(batch.lines, batch.first)
        if line.strip()
    ]
    if batch.broken is not None:
        judged.append(_broken_row(judge, f"{batch.file}:{batch.first + len(batch.lines)}", batch.broken, {}))
    return judged


def _judged_row(judge: RowJudge, place: str, line: bytes) -> JudgedRow:
    row: Mapping[str, Json] = {}
    try:
        row = parse_record(line)
        judged = judge.judge(row)
    except BrokenRow as error:
        return _broken_row(judge, place, str(error), row)
    verdict, recorded = judged.verdict, judge.recorded_verdict(row)
    name, fields = judged.difference or (None, {})
    return JudgedRow(
        place,
        json.dumps(verdict),
        comparison={key: _disagreement(key, verdict[key], recorded[key]) for key in verdict if key in recorded},
        difference=name,
        difference_line=json.dumps({"place": place, **fields}) if name else "",
        group_facts=judged.group_facts,
        caution=judged.caution,
        group_sums=judged.group_sums,
        group_values=judged.group_values,
        finding=judged.finding,
    )


def _disagreement(key: str, ours: Json, recorded: Json) -> str | None:
    return None if ours == recorded else f"{key} is {json.dumps(ours)}, the row has {json.dumps(recorded):.200}"


def _broken_row(judge: RowJudge, place: str, problem: str, row: Mapping[str, Json]) -> JudgedRow:
    known = judge.verdict_of_broken(row)
    return JudgedRow(
        place,
        json.dumps({**known.verdict, "error": f"{place}: {problem}"}),
        problem,
        group_sums=known.group_sums,
        group_values=known.group_values,
        finding=known.finding,
    )


def object_field(row: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """The object in a field of a row; an empty one where there is none."""
    value = row.get(name)
    return value if isinstance(value, Mapping) else {}
