"""The files of the data sets: a file, or a folder of files, that is called like the set."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_fcall.core.fault import Location
from pytest_fcall.core.values import Json
from pytest_fcall.suites.api_blend.borrowed import dialogue
from pytest_fcall.suites.api_blend.formats import samples_of
from pytest_fcall.suites.api_blend.rows import Row, rows_of
from pytest_fcall.suites.api_blend.sample import Sample
from pytest_fcall.suites.api_blend.sets import DataSet
from pytest_fcall.suites.json_lines import BrokenRow

HOW_TO_GET_IT: Final = (
    "its data sets are made by the scripts of github.com/IBM/API-BLEND, or taken from their sources; name the folder "
    "that holds them, each in a file or a folder of its name such as SeqATIS or seq_atis.json, with path: or "
    "--fc-suite-path"
)
_PLACES: Final = ("", "processed", "data/processed", "data")
_FILE: Final = re.compile(r"(?P<stem>.+?)\.jsonl?(\.gz)?", re.IGNORECASE)
_TESTS: Final = re.compile(r"test", re.IGNORECASE)
_TRAINING: Final = re.compile(r"train|dev|valid", re.IGNORECASE)
_EITHER: Final = re.compile(r"eval", re.IGNORECASE)
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


def set_files(data_set: DataSet, path: Path | None) -> SetFiles | None:
    """Find the files of a data set; None where there are none."""
    wanted = _bare(data_set.name)
    for place in _PLACES if path is not None else ():
        folder = (path or Path()) / place
        for found in sorted(folder.iterdir()) if folder.is_dir() else ():
            named = _FILE.fullmatch(found.name)
            if found.is_dir() and _bare(found.name) == wanted:
                files = [each for each in sorted(found.rglob("*")) if _FILE.fullmatch(each.name) and each.is_file()]
                if chosen := _chosen(data_set, [each for each in files if "spec" not in each.name.lower()]):
                    return chosen
            elif named and found.is_file() and _bare(named["stem"]) == wanted:
                return SetFiles(data_set, [found], [])
    return None


def _chosen(data_set: DataSet, files: Sequence[Path]) -> SetFiles | None:
    """Of several files those for testing, which say so; else those that are not for training."""
    rest = [path for path in files if not _TRAINING.search(path.name)]
    plain = [path for path in rest if not _EITHER.search(path.name)]
    tests = [path for path in files if _TESTS.search(path.name)] or plain or rest
    return SetFiles(data_set, tests, [path for path in files if path not in tests]) if tests else None


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _entries(data_set: DataSet, path: Path) -> Iterator[Entry]:
    rows = list(rows_of(path))
    if data_set.format == "api_bank" and rows and _is_turn(rows[0].data):
        for line, found in dialogue((row.line, row.data) for row in rows):
            yield _entry(path, line, found)
        return
    for row in rows:
        for each in _questions(data_set, row):
            yield _entry(path, row.line, each)


def _questions(data_set: DataSet, row: Row) -> Iterator[Sample | BrokenRow]:
    if row.fault:
        yield BrokenRow(row.fault)
        return
    try:
        yield from samples_of(data_set.format, row.data)
    except BrokenRow as error:
        yield error


def _entry(path: Path, line: int, found: Sample | BrokenRow) -> Entry:
    place = Location(str(path), line)
    return Entry(place, found) if isinstance(found, Sample) else Entry(place, None, str(found))


def _is_turn(row: Json) -> bool:
    return isinstance(row, dict) and "role" in row
