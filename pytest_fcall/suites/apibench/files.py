"""The three published hubs, and the files of a hub with their questions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from pytest_fcall.core.fault import Location
from pytest_fcall.core.values import Json
from pytest_fcall.suites.apibench.apis import Api, parse_api, plain_or_gzipped, read_apis
from pytest_fcall.suites.json_files import BrokenRow, open_lines, parse_record, read_lines

ComparedArguments: TypeAlias = Literal["named", "model", "all"]
"""What the original compares of a call.

* `named`: the arguments in whose text `repo_or_dir` or `model` occurs.
* `model`: the value of `model`, and the text of all others.
* `all`: the values of all arguments.
"""


@dataclass(frozen=True, slots=True)
class Hub:
    """One of the hubs."""

    name: str
    program: str
    """What its questions call it."""
    checked: ComparedArguments
    whole_answer: bool
    """Whether the original judges all of an answer that has no field `api_call`."""
    evaluation: str
    """The stem of the file with the right answers."""

    @property
    def apis(self) -> str:
        """The stem of the file with its API data base."""
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
    "get the folders data/ and gorilla/eval/eval-data/ of github.com/ShishirPatil/gorilla, "
    "and name the folder above them with path: or --fc-suite-path"
)
_API_FOLDERS: Final = ("", "api", "data/api")
_ANSWER_FOLDERS: Final = ("", "eval", "data/apibench")
_QUESTION_FOLDERS: Final = ("", "questions", "gorilla/eval/eval-data/questions/{hub}", "eval-data/questions/{hub}")
_INSTRUCTION: Final = re.compile(r"###\s*Instruction:\s*(?P<text>.*?)\s*(?:###\s*Output:|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the API that is right; or, with `fault`, what is wrong with its row."""

    number: str
    place: Location
    text: str = ""
    api: Api | None = None
    fault: str = ""


@dataclass(frozen=True)
class HubFiles:
    """What there is of one hub in a folder."""

    hub: Hub
    apis_path: Path
    answers_path: Path
    questions: Mapping[str, Path]
    """By setting."""

    @cached_property
    def apis(self) -> tuple[Api, ...]:
        """The data base. OSError or BrokenDataBase where it cannot be read."""
        return read_apis(self.apis_path)

    def asked(self, setting: str) -> Iterator[Question]:
        """The questions of a setting; where there is no file of them, those that stand beside the answers."""
        answers = list(_records(self.answers_path))
        if setting not in self.questions:
            for number, (place, row, fault) in enumerate(answers, 1):
                yield _question(str(number), place, _instruction(row), row, fault)
            return
        for place, row, fault in _records(self.questions[setting]):
            yield _with_answer(place, row, fault, answers)


def own_hubs(folder: Path) -> list[str]:
    """The hubs of one's own in a folder: their names, by which both files are called."""
    names = sorted(path.name.removesuffix("_eval.json") for path in folder.glob("*_eval.json"))
    return [name for name in names if name not in HUBS and (folder / f"{name}_api.jsonl").is_file()]


def hub_files(name: str, folder: Path) -> HubFiles:
    """Find the files of a hub. Raises ValueError, in words, where its data base or its answers are missing."""
    hub = HUBS.get(name) or Hub(name, name, "all", whole_answer=True, evaluation=f"{name}_eval")
    apis = _find(folder, _API_FOLDERS, f"{hub.apis}.jsonl", name)
    answers = _find(folder, _ANSWER_FOLDERS, f"{hub.evaluation}.json", name)
    if apis is None or answers is None:
        missing = f"{hub.apis}.jsonl" if apis is None else f"{hub.evaluation}.json"
        raise ValueError(f"there is no {missing} in {folder}: {HOW_TO_GET_IT}")
    found = {
        setting: path
        for setting in ("0_shot", "bm25", "gpt_index", "oracle")
        if (path := _find(folder, _QUESTION_FOLDERS, f"questions_{name}_{setting}.jsonl", name))
    }
    return HubFiles(hub, apis, answers, found)


def _find(folder: Path, places: Sequence[str], name: str, hub: str) -> Path | None:
    paths = (plain_or_gzipped(folder / place.format(hub=hub), name) for place in places)
    return next((path for path in paths if path.is_file()), None)


def _records(path: Path) -> Iterator[tuple[Location, Mapping[str, Json], str]]:
    """Each row with its place; where it cannot be read an empty one, and why."""
    with open_lines(path) as stream:
        for number, line in enumerate(read_lines(stream), 1):
            if not line.strip():
                continue
            place = Location(str(path), number)
            try:
                yield place, parse_record(line), ""
            except BrokenRow as error:
                yield place, {}, str(error)


def _with_answer(
    place: Location, row: Mapping[str, Json], fault: str, answers: Sequence[tuple[Location, Mapping[str, Json], str]]
) -> Question:
    """The id of a question is the number of the row with its answer; their order is not always the same."""
    number, text = str(row.get("question_id", "")), row.get("text")
    if fault or not number.isdecimal() or not isinstance(text, str):
        return Question(number or f"line_{place.line}", place, fault=fault or "it needs `question_id` and `text`")
    if not 1 <= int(number[:9]) <= len(answers):
        return Question(number, place, fault=f"there is no answer number {number[:20]}")
    _, answer, broken = answers[int(number) - 1]
    return _question(number, place, text, answer, broken)


def _question(number: str, place: Location, text: str, answer: Mapping[str, Json], fault: str) -> Question:
    document = answer.get("api_data")
    try:
        api = parse_api(document if isinstance(document, Mapping) else {})
    except BrokenRow as error:
        return Question(number, place, fault=fault or f"its answer has no `api_data`: {error}")
    call = answer.get("api_call")
    right = Api(api.domain, call, api.document) if isinstance(call, str) else api
    return Question(number, place, text, right) if text else Question(number, place, fault="it has no question")


def _instruction(row: Mapping[str, Json]) -> str:
    found = _INSTRUCTION.search(str(row.get("code", "")))
    return found["text"] if found else ""
