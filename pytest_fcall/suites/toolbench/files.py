"""The files of a task: `TASK/VERSION` holds `functions/`, `examples/` and `test.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from pytest_fcall.core.fault import Location
from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_files import json_file
from pytest_fcall.suites.json_lines import BrokenRow, lines, opened, record
from pytest_fcall.suites.toolbench.actions import Actions, actions_from_data
from pytest_fcall.suites.toolbench.known_actions import KNOWN_ACTIONS
from pytest_fcall.suites.toolbench.tasks import TASKS

HOW_TO_GET_IT: Final = (
    "run download_resources.sh of github.com/sambanova/toolbench, and name its folder data with path: or "
    "--fc-suite-path; or make TASK/VERSION/test.jsonl of your own, with functions/ and examples/ beside it"
)
_ROWS: Final = "test.jsonl"
_LONGEST: Final = 100_000
"""Bytes of a document; what is longer is cut off."""
_NO_DOCUMENTS: Final = (".", "document_store", "faiss_document_store.db")
"""How files begin that others have left there, such as the original's index of embeddings."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of `test.jsonl`; with `fault`, what is wrong with it."""

    number: int
    place: Location
    data: Mapping[str, Json]
    fault: str = ""


@dataclass(frozen=True)
class TaskFiles:
    """What there is of one version of a task."""

    folder: Path

    @property
    def rows(self) -> Iterator[Row]:
        """The questions."""
        path = self.folder / _ROWS
        with opened(path) as stream:
            for number, line in enumerate(lines(stream), 1):
                if not line.strip():
                    continue
                try:
                    yield Row(number, Location(str(path), number), record(line))
                except BrokenRow as error:
                    yield Row(number, Location(str(path), number), {}, str(error))

    @cached_property
    def functions(self) -> Sequence[str]:
        """The documents of functions."""
        return _documents(self.folder / "functions")

    @cached_property
    def examples(self) -> Sequence[str]:
        """The demonstrations, each a question and its answer."""
        return _documents(self.folder / "examples")

    @cached_property
    def actions(self) -> Actions:
        """What can be done in a virtual home. ValueError where the file of objects cannot be read."""
        path = self.folder / "valid_object_lists.json"
        return actions_from_data(json_file(path)) if path.is_file() else KNOWN_ACTIONS


def versions(path: Path | None) -> Mapping[str, Mapping[str, TaskFiles]]:
    """By task and version, what is in a folder, in its folder `data`, or in one of a single task."""
    if path is None:
        return {}
    found = {}
    for task in TASKS:
        places = [path / task, path / "data" / task, *([path] if path.absolute().name == task else [])]
        if own := {version: files for place in places for version, files in _versions(place)}:
            found[task] = own
    return found


def _versions(folder: Path) -> Iterator[tuple[str, TaskFiles]]:
    if (folder / _ROWS).is_file():
        yield "", TaskFiles(folder)
    for each in sorted(folder.glob("v[0-9]*")):
        if (each / _ROWS).is_file():
            yield each.name, TaskFiles(each)


def _documents(folder: Path) -> list[str]:
    """The text of each file, in the order of their names, blanks and all; of those that say the same, the first."""
    files = sorted(path for path in folder.glob("*") if path.is_file() and not path.name.startswith(_NO_DOCUMENTS))
    texts = (path.read_bytes()[:_LONGEST].decode(errors="replace") for path in files)
    return [*dict.fromkeys(text.replace("\r\n", "\n").replace("\r", "\n") for text in texts)]
