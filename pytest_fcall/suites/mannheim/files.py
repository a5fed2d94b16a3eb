"""The two files of the benchmark: question sets and function sets, and the questions in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_files import BrokenRow, read_json

HOW_TO_GET_IT: Final = (
    "get the folder src/config, with question_sets.json and function_sets.json, of the Mannheim function calling "
    "benchmark (branch master), and name it, or a folder above it, with path: or --fc-suite-path"
)
_PLACES: Final = ("", "config", "src/config")

PUBLISHED_PARTS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "music_single": ("MUSIC_Q_SINGLE_STEP_ONE_SHOT_V1", "MUSIC_FUNC_ONE_PARAM_SIMPLE_DESC_NO_EX_V01"),
        "music_single_complex": ("MUSIC_Q_SINGLE_STEP_ONE_SHOT_V1", "MUSIC_FUNC_ONE_PARAM_COMPLEX_DESC_NO_EX_V01"),
        "music_multi_param": (
            "MUSIC_Q_SINGLE_STEP_ONE_SHOT_MULTI_PARAM_V01",
            "MUSIC_FUNC_MULTI_PARAM_SIMPLE_DESC_NO_EX_V01",
        ),
        "music_sequential": ("MUSIC_Q_SEQ_MULTI_STEP_ONE_SHOT_V1", "MUSIC_FUNC_COMPLEX_DESC_NO_EX_V2"),
        "music_parallel": ("MUSIC_Q_PAR_MULTI_STEP_ONE_SHOT_V1", "MUSIC_FUNC_COMPLEX_DESC_NO_EX_V2"),
        "travel_single": ("TRAVEL_Q_SINGLE_STEP_ONE_SHOT_V01", "TRAVEL_FUNC_ONE_PARAM_SIMPLE_DESC_NO_EX_V01"),
        "travel_single_complex": ("TRAVEL_Q_SINGLE_STEP_ONE_SHOT_V01", "TRAVEL_FUNC_ONE_PARAM_COMPLEX_DESC_NO_EX_V01"),
        "travel_multi_param": (
            "TRAVEL_Q_SINGLE_STEP_ONE_SHOT_MULTI_PARAM_V01",
            "TRAVEL_FUNC_MULTI_PARAM_SIMPLE_DESC_NO_EX_V01",
        ),
        "travel_sequential": (
            "TRAVEL_Q_MULTI_CALL_SEQUENTIAL_V01",
            "TRAVEL_FUNC_MULTI_CALL_SEQUENTIAL_SIMPLE_DESC_NO_EX_V01",
        ),
        "travel_parallel": (
            "TRAVEL_Q_MULTI_CALL_PARALLEL_V01",
            "TRAVEL_FUNC_MULTI_CALL_PARALLEL_SIMPLE_DESC_NO_EX_V01",
        ),
    }
)
"""What was asked with which functions, by the names of the published runs."""


@dataclass(frozen=True, slots=True)
class Part:
    """A set of questions, and the functions that are offered for them."""

    name: str
    domain: str
    questions: Sequence[Json]
    functions: Sequence[Json]

    @property
    def in_any_order(self) -> bool:
        """Whether the calls of a right answer do not depend on each other."""
        return self.name.endswith("parallel")


@dataclass(frozen=True, slots=True)
class Files:
    """What there is in a folder."""

    questions_path: Path
    parts: Mapping[str, Part]


def read_files(path: Path | None) -> Files:
    """Find and read both files. Raises ValueError or OSError, in words, where that cannot be done."""
    if path is None:
        raise ValueError(f"the data of the suite mannheim is in no package: {HOW_TO_GET_IT}")
    questions_path = _find_file(path, "question_sets.json")
    questions = _sets(questions_path, "question_sets", "questions")
    functions = _sets(_find_file(path, "function_sets.json"), "function_sets", "functions")
    parts = {part.name: part for part in _parts(questions, functions)}
    if not parts:
        known = f"{', '.join(functions):.500}"
        raise ValueError(f"{questions_path}: no set names `function_sets` that are in function_sets.json: {known}")
    return Files(questions_path, parts)


def find_folder(path: Path | None) -> Path | None:
    """The folder with the files; None where there is none."""
    try:
        return None if path is None else _find_file(path, "question_sets.json").parent
    except ValueError:
        return None


def _find_file(folder: Path, name: str) -> Path:
    paths = (folder / place / each for place in _PLACES for each in (name, f"{name}.gz"))
    found = next((path for path in paths if path.is_file()), None)
    if found is None:
        raise ValueError(f"there is no {name} in {folder}: {HOW_TO_GET_IT}")
    return found


def _sets(path: Path, key: str, items: str) -> Mapping[str, Mapping[str, Json]]:
    data = read_json(path)
    sets = data.get(key) if isinstance(data, Mapping) else None
    found = {
        str(each["id"]): each
        for each in (sets if isinstance(sets, list) else ())
        if isinstance(each, Mapping) and isinstance(each.get("id"), str) and isinstance(each.get(items), list)
    }
    if not found:
        raise ValueError(f"{path} holds no `{key}`, each with an `id` and a list of `{items}`")
    return found


def _parts(questions: Mapping[str, Mapping[str, Json]], functions: Mapping[str, Mapping[str, Json]]) -> Iterator[Part]:
    """The published parts as far as they are there, then sets of one's own with the functions that they name."""
    for name, (asked, offered) in PUBLISHED_PARTS.items():
        if asked in questions and offered in functions:
            yield _part(name, questions[asked], functions[offered])
    published = {asked for asked, _ in PUBLISHED_PARTS.values()}
    for id_, own in questions.items():
        if id_ in published:
            continue
        named = own.get("function_sets")
        known = [each for each in (named if isinstance(named, list) else ()) if isinstance(each, str)]
        for number, each in enumerate((each for each in known if each in functions), 1):
            suffix = f"_{number}" if number > 1 else ""
            yield _part(f"{id_.lower()}{suffix}", own, functions[each])


def _part(name: str, asked: Mapping[str, Json], offered: Mapping[str, Json]) -> Part:
    questions, functions = asked["questions"], offered["functions"]
    return Part(
        name,
        str(asked.get("domain", "")).lower(),
        questions if isinstance(questions, list) else [],
        functions if isinstance(functions, list) else [],
    )


@dataclass(frozen=True, slots=True)
class Question:
    """One row of a set, as it stands there."""

    id: str
    category: str
    text: str
    paths: Sequence[Sequence[Call]]
    """Each is right by itself."""
    answer: Mapping[str, Json]
    ordered: frozenset[str]
    """The keys of the answer below which the order of a list matters."""


def parse_question(row: Json) -> Question:
    """Read a row; BrokenRow says what is wrong with it."""
    match row:
        case {
            "id": str(id_),
            "question": str(text),
            "target": {
                "solution_paths": [_, *_] as paths,
                "expected_answer": {"answer": Mapping() as answer, **beside},
            },
            **others,
        }:
            ordered = beside.get("ordered_items")
            keys = frozenset(map(str, ordered if isinstance(ordered, list) else ()))
            category = others.get("category")
            named = category if isinstance(category, str) and category.strip() else "other"
            return Question(
                _printable_id(id_), named, text, [list(_path_calls(path)) for path in paths], dict(answer), keys
            )
    raise BrokenRow(
        "it needs `id`, `question`, and a `target` with `solution_paths` and `expected_answer`, an object `answer`"
    )


def _printable_id(text: str) -> str:
    if not text.strip() or not text.isprintable() or "::" in text:
        raise BrokenRow("its id is empty, or not to be printed")
    return text.strip()


def _path_calls(path: Json) -> Iterator[Call]:
    match path:
        case {"functions": list(names), "parameters": list(parameters)} if len(names) == len(parameters):
            for name, given in zip(names, parameters, strict=True):
                if not isinstance(name, str) or not name.strip() or not isinstance(given, Mapping):
                    raise BrokenRow("a path holds a function that is no text, or parameters that are no object")
                yield Call(name, {str(key): value for key, value in given.items()})
            return
    raise BrokenRow("a path needs `functions` and `parameters`, as many of the one as of the other")
