"""The files of a data set, and the samples in them with their lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_fcall.core.case import Location
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.strict_json import NotJson, parse_json
from pytest_fcall.suites.api_blend.data_sets import DataSet, Sample, read_api_bank_dialogue, read_samples
from pytest_fcall.suites.json_files import BrokenRow, open_lines, read_json_text, read_lines

HOW_TO_GET_IT: Final = (
    "its data sets are made by the scripts of github.com/IBM/API-BLEND, or taken from their sources; name the folder "
    "that holds them, each in a file or a folder of its name such as SeqATIS or seq_atis.json, with path: or "
    "--fc-suite-path"
)
_FOLDERS: Final = ("", "processed", "data/processed", "data")
_FILE: Final = re.compile(r"(?P<stem>.+?)\.jsonl?(\.gz)?", re.IGNORECASE)
_TESTS: Final = re.compile(r"test", re.IGNORECASE)
_TRAINING: Final = re.compile(r"train|dev|valid", re.IGNORECASE)
_EVALUATION: Final = re.compile(r"eval", re.IGNORECASE)
"""In one data set the questions; in another, beside its test files, data for trials during training."""
_BETWEEN_ITEMS: Final = re.compile(r"[\s,]*+")


@dataclass(frozen=True, slots=True)
class Entry:
    """A sample with its location."""

    location: Location
    sample: Sample | None
    fault: str = ""
    """The reason why there is no sample."""


@dataclass(frozen=True, slots=True)
class SetFiles:
    """The files of one data set."""

    data_set: DataSet
    tests: Sequence[Path]
    training: Sequence[Path]

    def entries(self) -> Iterator[Entry]:
        """Yield the questions. Raises OSError or ValueError for a file that cannot be read."""
        for path in self.tests:
            yield from _entries(self.data_set, path)

    def examples(self) -> Iterator[Sample]:
        """Yield samples for demonstrations: those for training, then the questions."""
        for path in (*self.training, *self.tests):
            for entry in _entries(self.data_set, path):
                if entry.sample is not None:
                    yield entry.sample


def find_set_files(data_set: DataSet, path: Path | None) -> SetFiles | None:
    """Return the files of a data set; None without any."""
    wanted = _simple_name(data_set.name)
    for name in _FOLDERS if path is not None else ():
        folder = (path or Path()) / name
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
    """The files with `test` in their names as tests; without such files, those that are not for training."""
    rest = [path for path in files if not _TRAINING.search(path.name)]
    plain = [path for path in rest if not _EVALUATION.search(path.name)]
    tests = [path for path in files if _TESTS.search(path.name)] or plain or rest
    return SetFiles(data_set, tests, [path for path in files if path not in tests]) if tests else None


def _simple_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _entries(data_set: DataSet, path: Path) -> Iterator[Entry]:
    for line, found in _samples(data_set, list(_read_values(path))):
        location = Location(str(path), line)
        yield Entry(location, found) if isinstance(found, Sample) else Entry(location, None, str(found))


def _samples(
    data_set: DataSet, rows: Sequence[tuple[int, Json | BrokenRow]]
) -> Iterator[tuple[int, Sample | BrokenRow]]:
    first = rows[0][1] if rows else None
    if data_set.format == "api_bank" and isinstance(first, dict) and "role" in first:
        yield from read_api_bank_dialogue(rows)
        return
    for line, value in rows:
        if isinstance(value, BrokenRow):
            yield line, value
            continue
        try:
            for sample in read_samples(data_set.format, value):
                yield line, sample
        except BrokenRow as error:
            yield line, error


def _read_values(path: Path) -> Iterator[tuple[int, Json | BrokenRow]]:
    """The lines of a file, or the items of its list, with their line numbers.

    Raises OSError, or ValueError for a list that is not JSON.
    """
    with open_lines(path) as stream:
        beginning = next((line for line in read_lines(stream) if line.strip()), b"")
    if beginning.lstrip(b"\xef\xbb\xbf \t").startswith(b"["):
        text, items = read_json_text(path)
        yield from zip(_item_lines(text), items if isinstance(items, list) else (), strict=False)
        return
    with open_lines(path) as stream:
        for number, line in enumerate(read_lines(stream), 1):
            if line.strip():
                yield number, _parse_line(line)


def _parse_line(line: bytes) -> Json | BrokenRow:
    try:
        return parse_json(line.decode("utf-8-sig"))[0]
    except UnicodeDecodeError as error:
        return BrokenRow(f"not UTF-8: {error.reason} at byte {error.start + 1}")
    except NotJson as error:
        return BrokenRow(f"not JSON: {error}")


def _item_lines(text: str) -> Iterator[int]:
    """The line on which each item of a list begins. The text must be JSON."""
    decode = json.JSONDecoder().raw_decode
    position, line, counted = text.index("[") + 1, 1, 0
    while gap := _BETWEEN_ITEMS.match(text, position):
        position = gap.end()
        line, counted = line + text.count("\n", counted, position), position
        yield line
        position = decode(text, position)[1]
