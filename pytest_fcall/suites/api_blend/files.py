"""The files of a data set: where they are, and the samples in them with their lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_fcall.core.fault import Location
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.strict_json import NotJson, parse_json
from pytest_fcall.suites.api_blend.data_sets import DataSet, Sample
from pytest_fcall.suites.api_blend.formats import read_api_bank_dialogue, read_samples
from pytest_fcall.suites.json_files import BrokenRow, open_lines, read_json_text, read_lines

_BETWEEN_ITEMS: Final = re.compile(r"[\s,]*+")


@dataclass(frozen=True, slots=True)
class Row:
    """One row; with `fault`, what is wrong with it."""

    line: int
    data: Json
    fault: str = ""


def read_rows(path: Path) -> Iterator[Row]:
    """Read a file. OSError where it cannot be read, ValueError where it is a list that is no JSON."""
    with open_lines(path) as stream:
        beginning = next((line for line in read_lines(stream) if line.strip()), b"")
    if beginning.lstrip(b"\xef\xbb\xbf \t").startswith(b"["):
        text, items = read_json_text(path)
        yield from map(Row, _item_lines(text), items if isinstance(items, list) else ())
        return
    with open_lines(path) as stream:
        for number, line in enumerate(read_lines(stream), 1):
            if line.strip():
                yield _row(number, line)


def _row(number: int, line: bytes) -> Row:
    try:
        return Row(number, parse_json(line.decode("utf-8-sig"))[0])
    except UnicodeDecodeError as error:
        return Row(number, None, f"it is not UTF-8: {error.reason} at byte {error.start + 1}")
    except NotJson as error:
        return Row(number, None, f"it is no JSON: {error}")


def _item_lines(text: str) -> Iterator[int]:
    """The line on which each item of a list begins; the text is known to be JSON."""
    read = json.JSONDecoder().raw_decode
    at, line, counted = text.index("[") + 1, 1, 0
    while gap := _BETWEEN_ITEMS.match(text, at):
        at = gap.end()
        line, counted = line + text.count("\n", counted, at), at
        yield line
        at = read(text, at)[1]


HOW_TO_GET_IT: Final = (
    "its data sets are made by the scripts of github.com/IBM/API-BLEND, or taken from their sources; name the folder "
    "that holds them, each in a file or a folder of its name such as SeqATIS or seq_atis.json, with path: or "
    "--fc-suite-path"
)
_PLACES: Final = ("", "processed", "data/processed", "data")
_FILE: Final = re.compile(r"(?P<stem>.+?)\.jsonl?(\.gz)?", re.IGNORECASE)
_TESTS: Final = re.compile(r"test", re.IGNORECASE)
_TRAINING: Final = re.compile(r"train|dev|valid", re.IGNORECASE)
_EVALUATION: Final = re.compile(r"eval", re.IGNORECASE)
"""The questions of one data set, and beside the test files of another, what is tried out in training."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A sample and where it stands; without one, what is wrong there."""

    place: Location
    sample: Sample | None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class SetFiles:
    """The files of one data set."""

    data_set: DataSet
    tests: Sequence[Path]
    training: Sequence[Path]

    def entries(self) -> Iterator[Entry]:
        """The questions. OSError or ValueError where a file cannot be read."""
        for path in self.tests:
            yield from _entries(self.data_set, path)

    def examples(self) -> Iterator[Sample]:
        """Samples of which demonstrations are made: those of training, then the questions."""
        for path in (*self.training, *self.tests):
            for entry in _entries(self.data_set, path):
                if entry.sample is not None:
                    yield entry.sample


def find_set_files(data_set: DataSet, path: Path | None) -> SetFiles | None:
    """Find the files of a data set; None where there are none."""
    wanted = _simple_name(data_set.name)
    for place in _PLACES if path is not None else ():
        folder = (path or Path()) / place
        for found in sorted(folder.iterdir()) if folder.is_dir() else ():
            named = _FILE.fullmatch(found.name)
            if found.is_dir() and _simple_name(found.name) == wanted:
                files = [each for each in sorted(found.rglob("*")) if _FILE.fullmatch(each.name) and each.is_file()]
                if chosen := _test_files(data_set, [each for each in files if "spec" not in each.name.lower()]):
                    return chosen
            elif named and found.is_file() and _simple_name(named["stem"]) == wanted:
                return SetFiles(data_set, [found], [])
    return None


def _test_files(data_set: DataSet, files: Sequence[Path]) -> SetFiles | None:
    """Of several files those for testing, which say so; else those that are not for training."""
    rest = [path for path in files if not _TRAINING.search(path.name)]
    plain = [path for path in rest if not _EVALUATION.search(path.name)]
    tests = [path for path in files if _TESTS.search(path.name)] or plain or rest
    return SetFiles(data_set, tests, [path for path in files if path not in tests]) if tests else None


def _simple_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _entries(data_set: DataSet, path: Path) -> Iterator[Entry]:
    rows = list(read_rows(path))
    if data_set.format == "api_bank" and rows and _is_turn(rows[0].data):
        for line, found in read_api_bank_dialogue((row.line, row.data) for row in rows):
            yield _entry(path, line, found)
        return
    for row in rows:
        for each in _row_samples(data_set, row):
            yield _entry(path, row.line, each)


def _row_samples(data_set: DataSet, row: Row) -> Iterator[Sample | BrokenRow]:
    if row.fault:
        yield BrokenRow(row.fault)
        return
    try:
        yield from read_samples(data_set.format, row.data)
    except BrokenRow as error:
        yield error


def _entry(path: Path, line: int, found: Sample | BrokenRow) -> Entry:
    place = Location(str(path), line)
    return Entry(place, found) if isinstance(found, Sample) else Entry(place, None, str(found))


def _is_turn(row: Json) -> bool:
    return isinstance(row, dict) and "role" in row
