"""The files of the data sets: a file, or a folder of files, that is called like the set."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_fcall.core.fault import Location
from pytest_fcall.core.values import Json
from pytest_fcall.suites.api_blend.formats import Sample, dialogue_samples, samples_of
from pytest_fcall.suites.api_blend.sets import DataSet
from pytest_fcall.suites.json_files import json_file
from pytest_fcall.suites.json_lines import BrokenRow, lines, opened

HOW_TO_GET_IT: Final = (
    "its data sets are made by the scripts of github.com/IBM/API-BLEND, or taken from their sources; name the folder "
    "that holds them, each in a file or a folder of its name such as SeqATIS or seq_atis.json, with path: or "
    "--fc-suite-path"
)
_PLACES: Final = ("", "processed", "data/processed", "data")
_FILE: Final = re.compile(r"(?P<stem>.+?)\.jsonl?(\.gz)?", re.IGNORECASE)
_TRAINING: Final = re.compile(r"train|dev|eval|valid", re.IGNORECASE)


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
        """Samples of which demonstrations are made: those of training, and the questions where there are none."""
        for path in self.training or self.tests:
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
    """Of several files those for testing, which say so; else all that are not for training."""
    training = [path for path in files if _TRAINING.search(path.name) and "test" not in path.name.lower()]
    tests = [path for path in files if "test" in path.name.lower()] or [p for p in files if p not in training]
    return SetFiles(data_set, tests, training) if tests else None


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _entries(data_set: DataSet, path: Path) -> Iterator[Entry]:
    rows = list(_rows(path))
    if data_set.format == "api_bank" and rows and all(_is_turn(row) for _, row, _ in rows):
        yield from _dialogue(path, [row for _, row, _ in rows])
        return
    for number, row, fault in rows:
        place = Location(str(path), number)
        if fault:
            yield Entry(place, None, fault)
            continue
        try:
            yield from [Entry(place, sample) for sample in samples_of(data_set.format, row)]
        except BrokenRow as error:
            yield Entry(place, None, str(error))


def _dialogue(path: Path, rows: Sequence[Json]) -> Iterator[Entry]:
    place = Location(str(path))
    try:
        yield from [Entry(place, sample) for sample in dialogue_samples(rows)]
    except BrokenRow as error:
        yield Entry(place, None, str(error))


def _is_turn(row: Json) -> bool:
    return isinstance(row, dict) and "role" in row


def _rows(path: Path) -> Iterator[tuple[int, Json, str]]:
    """The items of a list with their numbers, or the lines of a file, which may be broken."""
    with opened(path) as stream:
        beginning = next((line for line in lines(stream) if line.strip()), b"")
    if beginning.lstrip(b"\xef\xbb\xbf \t").startswith(b"["):
        data = json_file(path)
        yield from ((number, row, "") for number, row in enumerate(data if isinstance(data, list) else [data], 1))
        return
    with opened(path) as stream:
        for number, line in enumerate(lines(stream), 1):
            if line.strip():
                try:
                    yield number, json.loads(line), ""
                except (ValueError, RecursionError):
                    yield number, None, "it is no JSON"
