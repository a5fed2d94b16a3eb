"""The files of ACEBench: questions, the possible answers to them, and the prompts in the original's code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Final

from pytest_fcall.core.case import FaultyCase, Location
from pytest_fcall.core.values import Json, Message
from pytest_fcall.suites.acebench.categories import QuestionCategory, read_id
from pytest_fcall.suites.json_files import (
    BrokenRow,
    FileRow,
    broken_case,
    count_rows,
    find_file,
    objects_field,
    read_rows,
    required_path,
    string_field,
    text_field,
)
from pytest_fcall.suites.original_code import fill_placeholders, module_literals

HOW_TO_GET_IT: Final = (
    "get https://github.com/chenchen0103/ACEBench, and name its folder, or the one above it, with path: or "
    "--fc-suite-path"
)
_FOLDERS: Final = ("", "ACEBench")


@dataclass(frozen=True, slots=True)
class AceBenchQuestion:
    """A question, or an agent's task, with what is right."""

    id: str
    """With the language before the original's id."""
    location: Location
    functions: Sequence[Mapping[str, Json]]
    truth: Json
    milestones: Json
    """The steps of an agent; None for a question."""
    text: str
    time: str
    profile: str


def find_questions(language: str, category: QuestionCategory, path: Path | None) -> Path | None:
    """Return the file with the questions of a category; None without one."""
    name = f"data_all/data_{language}/data_{category.name}.json"
    return None if path is None else find_file(path, name, _FOLDERS)


def count_questions(language: str, category: QuestionCategory, path: Path | None) -> int | None:
    """Return the number of questions of a category; None where they cannot be read."""
    found = find_questions(language, category, path)
    try:
        return count_rows(found) if found else None
    except OSError:
        return None


def read_questions(
    language: str, category: QuestionCategory, path: Path | None
) -> Iterator[AceBenchQuestion | FaultyCase]:
    """Yield the questions of a category. Raises ValueError or OSError where there are none."""
    folder = required_path(path, "acebench", HOW_TO_GET_IT)
    file = find_questions(language, category, folder)
    answers = file and find_file(file.parent, f"possible_answer/data_{category.name}.json")
    if file is None or answers is None:
        missing = "possible answers for" if file else "questions of"
        raise ValueError(f"no {missing} {language}_{category.name} in {folder}: {HOW_TO_GET_IT}")
    for number, (asked, answer) in enumerate(zip_longest(read_rows(file), read_rows(answers)), 1):
        id_ = f"{language}_{category.name}_{number - 1}"
        if asked is None:
            yield broken_case(f"{id_} ({number})", answer.location, "there is no question for this possible answer")
            continue
        try:
            yield _question(language, category, asked, answer)
        except BrokenRow as error:
            yield broken_case(id_, asked.location, str(error))


def _question(language: str, category: QuestionCategory, asked: FileRow, answer: FileRow | None) -> AceBenchQuestion:
    row = asked.record
    id_ = text_field(row, "id")
    named = read_id(id_)
    if named is None or named.language or named.category != category:
        raise BrokenRow(f"`id` must be that of a question of {category.name}, not {id_!r:.80}")
    if answer is None:
        raise BrokenRow("the file of possible answers has no row for it")
    try:
        right = answer.record
    except BrokenRow as error:
        raise BrokenRow(f"its possible answer, {answer.location.path}:{answer.location.line}, is {error}") from None
    if right.get("id") != id_:
        raise BrokenRow(f"the row of possible answers in the same place is for {right.get('id')!r:.80}")
    return AceBenchQuestion(
        id=f"{language}_{id_}",
        location=asked.location,
        functions=objects_field(row, "function"),
        truth=_truth(category, right),
        milestones=right.get("mile_stone") if category.kind == "agent" else None,
        text=string_field(row, "question"),
        time=_optional_text(row, "time"),
        profile=_optional_text(row, "profile"),
    )


def _truth(category: QuestionCategory, right: Mapping[str, Json]) -> Json:
    truth = right.get("ground_truth")
    if category.name == "special_irrelevant":
        return truth
    alternatives = truth if isinstance(truth, list) and category.kind != "problem" else [truth]
    if not alternatives or not all(isinstance(each, Mapping) for each in alternatives):
        raise BrokenRow("`ground_truth` must be an object, or a list of objects that are alternatives")
    if category.kind == "agent" and not isinstance(right.get("mile_stone"), list):
        raise BrokenRow("`mile_stone` must be a list")
    return truth


def _optional_text(row: Mapping[str, Json], name: str) -> str:
    value = row.get(name, "")
    if not isinstance(value, str):
        raise BrokenRow(f"`{name}` must be a string")
    return value


class AceBenchPrompt:
    """The prompt of a category in one language. Raises ValueError where it cannot be read."""

    def __init__(self, language: str, category: QuestionCategory, path: Path) -> None:
        file = find_file(path, f"model_inference/prompt_{language}.py", _FOLDERS)
        if file is None:
            raise ValueError(f"no model_inference/prompt_{language}.py in {path}: {HOW_TO_GET_IT}")
        texts = module_literals(file)

        def text(name: str) -> str:
            if isinstance(found := texts.get(f"{name}_{language.upper()}"), str):
                return found
            raise ValueError(f"{file} is not that of ACEBench: it has no text {name}_{language.upper()}")

        self._system = text(f"SYSTEM_PROMPT_FOR_{_kind(category)}_DATA")
        self._user = text("USER_PROMPT")

    def messages(self, question: AceBenchQuestion) -> tuple[Message, ...]:
        """Return the messages of a question."""
        functions = str([*map(dict, question.functions)])
        system = fill_placeholders(
            self._system, {"time": question.time, "profile": question.profile, "function": functions}
        )
        user = fill_placeholders(self._user, {"question": question.text})
        return {"role": "system", "content": system}, {"role": "user", "content": user}


def _kind(category: QuestionCategory) -> str:
    if category.kind == "problem":
        return "SPECIAL"
    return "PREFERENCE" if category.name == "normal_preference" else "NORMAL"
