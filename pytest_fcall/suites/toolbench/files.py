"""The eight tasks, and the files of each version of a task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from pytest_fcall.core.files import open_regular
from pytest_fcall.suites.json_files import FileRow, count_rows, read_json, read_rows
from pytest_fcall.suites.toolbench.virtual_home import KNOWN_ACTIONS, Actions, actions_from_data

TaskKind: TypeAlias = Literal["state", "steps", "request", "sheet", "scene", "shop"]
"""The basis of judging an answer: the state that it sets, its steps, or the outcome of its execution."""

_RUN_SCORES: Final = ("success_rate", "executability")
_STATE_SCORES: Final = ("state_f1", "state_precision", "state_recall", *_RUN_SCORES)


@dataclass(frozen=True, slots=True)
class ToolBenchTask:
    """One task."""

    name: str
    kind: TaskKind
    apis: int
    """The number of function documents in the prompt, the best ones for the question."""
    examples: int
    """The number of demonstrations in the prompt, the best ones for the question."""
    max_tokens: int
    scores: tuple[str, ...]
    needs: str = ""
    """The requirement for executing answers; empty if the suite does it."""


TASKS: Final[Mapping[str, ToolBenchTask]] = MappingProxyType(
    {
        task.name: task
        for task in (
            ToolBenchTask("open_weather", "request", 10, 3, 128, _STATE_SCORES, "OpenWeather's service"),
            ToolBenchTask("the_cat_api", "request", 3, 3, 128, _STATE_SCORES, "The Cat API's service"),
            ToolBenchTask("home_search", "state", 15, 3, 128, _STATE_SCORES),
            ToolBenchTask("booking", "state", 15, 3, 300, _STATE_SCORES),
            ToolBenchTask("google_sheets", "sheet", 0, 3, 256, _RUN_SCORES, "a Google sheet"),
            ToolBenchTask("virtual_home", "steps", 10, 3, 128, ("lcs", "lcs(executable)", "executability")),
            ToolBenchTask("web_shop", "shop", 0, 3, 128, ("reward", "executability"), "a web shop"),
            ToolBenchTask(
                "code_as_policies_tabletop",
                "scene",
                0,
                0,
                256,
                ("success_rate", "executability"),
                "the simulated table",
            ),
        )
    }
)
"""The tasks by the names of their folders, with the numbers of the original documentation."""


HOW_TO_GET_IT: Final = (
    "run download_resources.sh of github.com/sambanova/toolbench, and name its folder data with path: or "
    "--fc-suite-path; or make TASK/VERSION/test.jsonl of your own, with functions/ and examples/ beside it"
)
_ROWS_FILE: Final = "test.jsonl"
_LONGEST: Final = 100_000
"""The length in bytes at which a document is cut."""
_NOT_DOCUMENTS: Final = (".", "document_store", "faiss_document_store.db")
"""The beginnings of the names of other files, such as the original's index of embeddings."""


@dataclass(frozen=True)
class TaskFiles:
    """The files of one version of a task."""

    folder: Path

    @property
    def rows(self) -> Iterator[FileRow]:
        """The questions."""
        return read_rows(self.folder / _ROWS_FILE)

    def count_rows(self) -> int:
        """Return the number of questions."""
        return count_rows(self.folder / _ROWS_FILE)

    @cached_property
    def functions(self) -> Mapping[str, str]:
        """The documents of functions, by the names of their files."""
        return _documents(self.folder / "functions")

    @cached_property
    def examples(self) -> Mapping[str, str]:
        """The demonstrations, each a question and its answer, by the names of their files."""
        return _documents(self.folder / "examples")

    @cached_property
    def actions(self) -> Actions:
        """The actions of a virtual home. Raises ValueError for a file of objects that cannot be read."""
        path = self.folder / "valid_object_lists.json"
        return actions_from_data(read_json(path)) if path.is_file() else KNOWN_ACTIONS


def task_versions(path: Path | None) -> Mapping[str, Mapping[str, TaskFiles]]:
    """Return the files by task and version, of a folder, of its folder `data`, or of the folder of one task."""
    if path is None:
        return {}
    found = {}
    for task in TASKS:
        folders = [path / task, path / "data" / task, *([path] if path.absolute().name == task else [])]
        if own := {version: files for folder in folders for version, files in _versions(folder)}:
            found[task] = own
    return found


def _versions(folder: Path) -> Iterator[tuple[str, TaskFiles]]:
    if (folder / _ROWS_FILE).is_file():
        yield "", TaskFiles(folder)
    for each in sorted(folder.glob("v[0-9]*")):
        if (each / _ROWS_FILE).is_file():
            yield each.name, TaskFiles(each)


def _beginning(path: Path) -> bytes:
    with open_regular(path) as file:
        return file.read(_LONGEST)


def _documents(folder: Path) -> dict[str, str]:
    """The texts of the files in the order of their names, without duplicates."""
    files = sorted(path for path in folder.glob("*") if path.is_file() and not path.name.startswith(_NOT_DOCUMENTS))
    texts = {path.name: _beginning(path).decode(errors="replace") for path in files}
    names = {text.replace("\r\n", "\n").replace("\r", "\n"): name for name, text in reversed(texts.items())}
    return {name: text for text, name in reversed(names.items())}
