"""The eight tasks, and the files of each version of a task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from pytest_fcall.core.fault import Location
from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_files import BrokenRow, open_lines, parse_record, read_json, read_lines
from pytest_fcall.suites.toolbench.virtual_home import KNOWN_ACTIONS, Actions, actions_from_data

TaskKind: TypeAlias = Literal["state", "steps", "request", "sheet", "scene", "shop"]
"""How an answer is judged: by the state that it sets, by its steps, or by what carrying it out gives."""

_STATE_SCORES: Final = ("state_f1", "state_precision", "state_recall", "executability")


@dataclass(frozen=True, slots=True)
class Task:
    """One task."""

    name: str
    kind: TaskKind
    apis: int
    """How many documents of functions are told, those that suit the question best."""
    examples: int
    """How many demonstrations are told, likewise."""
    max_tokens: int
    scores: tuple[str, ...]
    needs: str = ""
    """What there must be to carry answers out; nothing where that is done here."""


TASKS: Final[Mapping[str, Task]] = MappingProxyType(
    {
        task.name: task
        for task in (
            Task("open_weather", "request", 10, 3, 128, _STATE_SCORES, "OpenWeather's service"),
            Task("the_cat_api", "request", 3, 3, 128, _STATE_SCORES, "The Cat API's service"),
            Task("home_search", "state", 15, 3, 128, _STATE_SCORES),
            Task("booking", "state", 15, 3, 300, _STATE_SCORES),
            Task("google_sheets", "sheet", 0, 3, 256, ("executability",), "a Google sheet"),
            Task("virtual_home", "steps", 10, 3, 128, ("lcs", "lcs(executable)", "executability")),
            Task("web_shop", "shop", 0, 3, 128, ("reward", "executability"), "a web shop"),
            Task("code_as_policies_tabletop", "scene", 0, 0, 256, ("executability",), "the simulated table"),
        )
    }
)
"""By the names of their folders. The numbers are those that the original's documentation gives."""


HOW_TO_GET_IT: Final = (
    "run download_resources.sh of github.com/sambanova/toolbench, and name its folder data with path: or "
    "--fc-suite-path; or make TASK/VERSION/test.jsonl of your own, with functions/ and examples/ beside it"
)
_ROWS_FILE: Final = "test.jsonl"
_LONGEST: Final = 100_000
"""Bytes of a document; what is longer is cut off."""
_NOT_DOCUMENTS: Final = (".", "document_store", "faiss_document_store.db")
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
        path = self.folder / _ROWS_FILE
        with open_lines(path) as stream:
            for number, line in enumerate(read_lines(stream), 1):
                if not line.strip():
                    continue
                try:
                    yield Row(number, Location(str(path), number), parse_record(line))
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
        return actions_from_data(read_json(path)) if path.is_file() else KNOWN_ACTIONS


def task_versions(path: Path | None) -> Mapping[str, Mapping[str, TaskFiles]]:
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
    if (folder / _ROWS_FILE).is_file():
        yield "", TaskFiles(folder)
    for each in sorted(folder.glob("v[0-9]*")):
        if (each / _ROWS_FILE).is_file():
            yield each.name, TaskFiles(each)


def _documents(folder: Path) -> list[str]:
    """The text of each file, in the order of their names, blanks and all; of those that say the same, the first."""
    files = sorted(path for path in folder.glob("*") if path.is_file() and not path.name.startswith(_NOT_DOCUMENTS))
    texts = (path.read_bytes()[:_LONGEST].decode(errors="replace") for path in files)
    return [*dict.fromkeys(text.replace("\r\n", "\n").replace("\r", "\n") for text in texts)]
