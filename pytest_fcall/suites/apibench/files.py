"""The three published hubs, and the files of a hub with their questions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from pytest_fcall.core.case import Location
from pytest_fcall.core.values import Json, is_strings
from pytest_fcall.suites.apibench.apis import ApiChange, ApiEntry, parse_api, read_apis, read_changes
from pytest_fcall.suites.apibench.constraints import Constraints, named_constraints
from pytest_fcall.suites.json_files import BrokenRow, FileRow, count_rows, find_file, read_rows

ComparedArguments: TypeAlias = Literal["named", "model", "all"]
"""The parts of a call that the original rule compares.

* `named`: the arguments in whose text `repo_or_dir` or `model` occurs.
* `model`: the value of `model`, and the text of all others.
* `all`: the values of all arguments.
"""


@dataclass(frozen=True, slots=True)
class Hub:
    """One hub."""

    name: str
    program: str
    """The name of the hub in questions."""
    checked: ComparedArguments
    whole_answer: bool
    """Whether the original rule judges the whole of an answer that has no field `api_call`."""
    evaluation: str
    """The stem of the file of right answers."""

    @property
    def apis(self) -> str:
        """The stem of the file of the API data base."""
        return f"{self.name}_api"


HUBS: Mapping[str, Hub] = MappingProxyType(
    {
        hub.name: hub
        for hub in (
            Hub("torchhub", "TorchHub", "named", False, "torchhub_eval"),
            Hub("tensorflowhub", "TensorFlow Hub", "model", True, "tensorflow_eval"),
            Hub("huggingface", "Hugging Face", "all", True, "huggingface_eval"),
        )
    }
)


HOW_TO_GET_IT: Final = (
    "get the folders data/ and gorilla/eval/ of github.com/ShishirPatil/gorilla, "
    "and name the folder above them with path: or --fc-suite-path"
)
REFERENCE: Final = "Use this API documentation for reference:"
"""The text between a question and the document of an API."""
_API_FOLDERS: Final = ("", "api", "data/api")
_ANSWER_FOLDERS: Final = ("", "eval", "data/apibench")
_QUESTION_FOLDERS: Final = ("", "questions", "gorilla/eval/eval-data/questions/{hub}", "eval-data/questions/{hub}")
_INSTRUCTION: Final = re.compile(r"###\s*Instruction:\s*(?P<text>.*?)\s*(?:###\s*Output:|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ApiBenchQuestion:
    """A question with its right API."""

    number: str
    location: Location
    text: str = ""
    api: ApiEntry | None = None
    fault: str = ""
    """The reason why the question has no API."""
    constraints: Constraints | None = None
    """Its demands on the model, if the row of the answer has them."""


@dataclass(frozen=True)
class HubFiles:
    """The files of one hub."""

    hub: Hub
    apis_path: Path
    answers_path: Path
    question_paths: Mapping[str, Path]
    """The files of questions, by setting."""
    changes_path: Path

    @cached_property
    def apis(self) -> tuple[ApiEntry, ...]:
        """The API data base. Raises OSError or BrokenDataBase."""
        return read_apis(self.apis_path)

    @cached_property
    def changes(self) -> Mapping[str, ApiChange]:
        """The changes of documents, by the former call. Raises OSError or BrokenDataBase."""
        return read_changes(self.changes_path, self.apis)

    def questions_in(self, setting: str) -> Iterator[ApiBenchQuestion]:
        """Yield the questions of a setting; without a file of them, the instructions beside the answers."""
        answers = list(read_rows(self.answers_path))
        if setting not in self.question_paths:
            for number, row in enumerate(answers, 1):
                yield _question(str(number), row.location, _instruction(row.data), row)
            return
        for row in read_rows(self.question_paths[setting]):
            yield _with_answer(row, answers)

    def count(self, setting: str) -> int:
        """Return the number of questions in a setting."""
        return count_rows(self.question_paths.get(setting, self.answers_path))


def training_file(hub: Hub, folder: Path) -> Path | None:
    """Return the file of a hub's questions for training; None without one."""
    return find_file(folder, f"{hub.evaluation.removesuffix('_eval')}_train.json", (*_ANSWER_FOLDERS, "train"))


def question_without_document(text: str) -> str:
    """Return the question of a text that may include a document."""
    return text.partition(REFERENCE)[0]


def own_hubs(folder: Path) -> list[str]:
    """Return the names of the user's own hubs in a folder, `NAME_eval.json` with `NAME_api.jsonl`."""
    names = sorted(path.name.removesuffix("_eval.json") for path in folder.glob("*_eval.json"))
    return [name for name in names if name not in HUBS and (folder / f"{name}_api.jsonl").is_file()]


def hub_files(name: str, folder: Path) -> HubFiles:
    """Find the files of a hub. Raises ValueError, with the way to get them, without its data base or its answers."""
    hub = HUBS.get(name) or Hub(name, name, "all", whole_answer=True, evaluation=f"{name}_eval")
    question_folders = [each.format(hub=name) for each in _QUESTION_FOLDERS]
    questions = {
        setting: path
        for setting in ("0_shot", "bm25", "gpt_index", "oracle")
        if (path := find_file(folder, f"questions_{name}_{setting}.jsonl", question_folders))
    }
    apis = _required_file(folder, f"{hub.apis}.jsonl", _API_FOLDERS)
    answers = _required_file(folder, f"{hub.evaluation}.json", _ANSWER_FOLDERS)
    return HubFiles(hub, apis, answers, questions, find_changes(name, folder) or folder / f"{name}_changes.jsonl")


def find_changes(name: str, folder: Path) -> Path | None:
    """Return the file with the changes of a hub's documents; None without one."""
    return find_file(folder, f"{name}_changes.jsonl", _API_FOLDERS)


def _required_file(folder: Path, name: str, folders: Sequence[str]) -> Path:
    if path := find_file(folder, name, folders):
        return path
    raise ValueError(f"no {name} in {folder}: {HOW_TO_GET_IT}")


def _with_answer(row: FileRow, answers: Sequence[FileRow]) -> ApiBenchQuestion:
    """The question with its answer. Its id is the number of the answer's row; the files may differ in order."""
    number, text = str(row.data.get("question_id", "")), row.data.get("text")
    if row.fault or not number.isdecimal() or not isinstance(text, str):
        fault = row.fault or "`question_id` must be a number, and `text` a string"
        return ApiBenchQuestion(number or f"line_{row.location.line}", row.location, fault=fault)
    if not 1 <= int(number[:9]) <= len(answers):
        return ApiBenchQuestion(number, row.location, fault=f"no answer number {number[:20]}")
    return _question(number, row.location, text, answers[int(number) - 1])


def _question(number: str, location: Location, text: str, answer: FileRow) -> ApiBenchQuestion:
    document = answer.data.get("api_data")
    try:
        api = parse_api(document if isinstance(document, Mapping) else {})
    except BrokenRow as error:
        return ApiBenchQuestion(number, location, fault=answer.fault or f"invalid `api_data` in the answer: {error}")
    call = answer.data.get("api_call")
    right = ApiEntry(api.domain, call, api.document) if isinstance(call, str) else api
    try:
        constraints = _constraints(answer.data)
    except ValueError as error:
        return ApiBenchQuestion(number, location, fault=f"invalid `constraints` in the answer: {error}")
    if not text:
        return ApiBenchQuestion(number, location, fault="no question")
    return ApiBenchQuestion(number, location, text, right, constraints=constraints)


def _constraints(row: Mapping[str, Json]) -> Constraints | None:
    """The constraints that a row names; None if it leaves them to the question."""
    if "constraints" not in row:
        return None
    if not is_strings(texts := row["constraints"]):
        raise ValueError("expected a list of texts")
    return named_constraints(texts)


def _instruction(row: Mapping[str, Json]) -> str:
    found = _INSTRUCTION.search(str(row.get("code", "")))
    return found["text"] if found else ""
