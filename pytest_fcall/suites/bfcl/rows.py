"""The leaderboard's data: the folder, and the rows of a category in the files of each version."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Final

from pytest_fcall.core.case import Location
from pytest_fcall.core.files import read_regular
from pytest_fcall.core.json_data import read_json
from pytest_fcall.core.values import Json, is_strings
from pytest_fcall.decoding.bfcl.decoders import decode_prompt
from pytest_fcall.decoding.bfcl.official_form import Undecodable
from pytest_fcall.suites.bfcl.categories import CATEGORIES, DISGUISED, FORMATS, RIGHT_REQUESTS, Category
from pytest_fcall.suites.json_files import BrokenRow, FileRow, count_rows, read_rows

BFCL_PACKAGE: Final = "bfcl_eval"
HOW_TO_GET_IT: Final = "pip install --no-deps bfcl-eval, or name the folder of the files with path: or --fc-suite-path"
_READ_FILES: Final = "BFCL_v4_*.json, and gorilla_openfunctions_v1_test_*.json of 2024"
_CALL_NUMBER: Final = re.compile(r"[ _]\d+\Z")
_NO_CALLS: Final = ("id", "index")


@dataclass(frozen=True, slots=True)
class BfclRow:
    """A question with its ground truth, in the form that `case_of` reads."""

    id: str
    location: Location
    data: Mapping[str, Json]
    fault: str = ""
    """The reason why the row has no case."""


def find_data_folder(path: Path | None) -> Path | None:
    """Return the folder of data: `path`, a folder inside it, or that of the installed package; None without data.

    The package is not imported, since it imports the SDK of every vendor.
    """
    found = find_spec(BFCL_PACKAGE) if path is None else None
    bases = [path] if path is not None else [*map(Path, (found and found.submodule_search_locations) or ())]
    inside = ("", "data", f"{BFCL_PACKAGE}/data")
    return next((base / name for base in bases for name in inside if _has_files(base / name)), None)


def _has_files(folder: Path) -> bool:
    names = (name for each in CATEGORIES.values() for name in (each.questions_file, each.first_version_file) if name)
    return any((folder / name).is_file() for name in names)


def data_folder(path: Path | None) -> Path:
    """Return the folder of data. Raises ValueError, with the way to get it, without data."""
    if folder := find_data_folder(path):
        return folder
    if path is not None and (other := next(path.glob("BFCL_v[123]_*.json"), None)):
        raise ValueError(f"{path} has files of another version, such as {other.name}; suite bfcl reads {_READ_FILES}")
    where = f"in {path}" if path is not None else "installed"
    raise ValueError(f"no data for suite bfcl {where}: {HOW_TO_GET_IT}")


def category_rows(category: Category, folder: Path) -> Iterator[BfclRow]:
    """Yield the rows of a category in their order. Raises ValueError for a file that cannot be read."""
    if category.truth == "in_other_category":
        return _format_rows(category, folder)
    if category.disguises:
        return _disguised_rows(CATEGORIES[category.disguises], folder)
    questions, _ = row_files(category, folder)
    if questions.name == category.first_version_file:
        return _first_version_rows(category, questions)
    return current_rows(category, folder)


def _disguised_rows(published: Category, folder: Path) -> Iterator[BfclRow]:
    from pytest_fcall.suites.bfcl.disguise import disguise_row

    for row in category_rows(published, folder):
        id_ = DISGUISED + row.id
        try:
            yield replace(row, id=id_, data=row.data if row.fault else disguise_row(row.data))
        except BrokenRow as error:
            yield replace(row, id=id_, fault=str(error))


def count_category_rows(category: Category, folder: Path) -> int:
    """Count the rows of a category without parsing them. Raises ValueError or OSError for an unreadable file."""
    questions, _ = row_files(category, folder)
    if category.truth == "in_other_category":
        return len(FORMATS) * sum(map(len, _format_question_ids(questions).values()))
    return count_rows(questions)


def row_files(category: Category, folder: Path) -> tuple[Path, Path | None]:
    """Return the files of questions and truths: the current ones, or those of the first version if only they exist."""
    current, first = folder / category.questions_file, category.first_version_file
    if first and (folder / first).is_file() and not current.is_file():
        return folder / first, folder / "possible_answer" / first
    return current, folder / category.answers_file if category.answers_file else None


def current_rows(category: Category, folder: Path) -> Iterator[BfclRow]:
    """Yield the rows of the current version in the order of the file. Raises ValueError for an unreadable file."""
    truths = _truth_by_id(category, folder)
    requests = _right_requests(folder) if category.truth == "answer" else {}
    for number, row in enumerate(_file_rows(folder / category.questions_file)):
        name = row.data.get("id")
        id_ = name if isinstance(name, str) and name else f"{category.name}_{number}"  # chatable rows have none
        if row.fault:
            yield BfclRow(id_, row.location, {}, row.fault)
        elif category.truth != "none" and id_ not in truths:
            yield BfclRow(id_, row.location, row.data, f"no ground truth in {category.answers_file}")
        else:
            truth = {**truths.get(id_, {}), **({"request": requests[id_]} if id_ in requests else {})}
            yield _row_with_truth(category, category.id_of(id_), row, truth)


def _right_requests(folder: Path) -> Mapping[str, Json]:
    """The right calls of the category `rest`, by id. The leaderboard keeps them to check that servers still answer."""
    path = folder / RIGHT_REQUESTS
    rows = (row.data for row in _file_rows(path)) if path.is_file() else ()
    return {f"rest_{data['idx']}": data.get("ground_truth") for data in rows if "idx" in data}


def _truth_by_id(category: Category, folder: Path) -> dict[str, Mapping[str, Json]]:
    if category.answers_file is None:
        return {}
    rows = (row.data for row in _file_rows(folder / category.answers_file))
    return {id_: data for data in rows if isinstance(id_ := data.get("id"), str)}


def _file_rows(path: Path) -> Iterator[FileRow]:
    try:
        yield from read_rows(path)
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror or error}") from None


def _row_with_truth(category: Category, id_: str, row: FileRow, answer: Mapping[str, Json]) -> BfclRow:
    """Join a question and its ground truth."""
    truth = answer.get("ground_truth", [])
    try:
        alternatives = _truth_alternatives(category, truth)
    except (Undecodable, BrokenRow) as error:
        return BfclRow(id_, row.location, row.data, f"invalid ground truth: {error}")
    functions = row.data.get("function")
    data: dict[str, Json] = {
        **row.data,
        "id": id_,
        "category": category.name,
        "function": [functions] if isinstance(functions, Mapping) else functions or [],
        "question": _turns(row.data.get("question")),
        "ground_truth": alternatives,
    }
    if category.truth == "source":
        data |= {"sources": truth, "execution_result_type": answer.get("execution_result_type")}
    if category.truth == "answer":
        data |= {"response": answer.get("ground_truth"), "sources": [answer["request"]] if "request" in answer else []}
    return BfclRow(id_, row.location, data)


def _truth_alternatives(category: Category, truth: Json) -> Json:
    """The truth as calls with alternatives. A call in Python source has one alternative for each argument."""
    if category.truth != "source":
        return [] if category.truth == "answer" else truth
    calls: list[Json] = []
    for source in truth if isinstance(truth, list) else [truth]:
        decoded = decode_prompt(source)
        calls += map(_with_lists, decoded if isinstance(decoded, list) else ())
    return calls


def _with_lists(call: Mapping[str, Mapping[str, Json]]) -> Json:
    """A call in which the value of each argument is a list of one alternative."""
    return {name: {key: [_alternative(value)] for key, value in given.items()} for name, given in call.items()}


def _alternative(value: Json) -> Json:
    """One alternative. An object, also in a list, has a list of alternatives for each of its keys."""
    if isinstance(value, Mapping):
        return {key: [inner] for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_alternative(item) if isinstance(item, Mapping) else item for item in value]
    return value


def _turns(question: Json) -> Json:
    """The question as a list of one turn, if the file has just the messages of the turn."""
    if isinstance(question, list) and question and isinstance(question[0], Mapping):
        return [question]
    return question


def _first_version_rows(category: Category, file: Path) -> Iterator[BfclRow]:
    """Yield the rows of a file of 2024 with the ids of today. Questions and truths are paired by their positions."""
    answers = file.parent / "possible_answer" / file.name
    truths = [*_file_rows(answers)] if answers.is_file() else []
    for number, row in enumerate(_file_rows(file)):
        id_ = f"{category.name}_{number}"
        # Calls to be executed have their truth in the row of the question.
        truth = truths[number] if number < len(truths) else row if "ground_truth" in row.data else None
        if row.fault:
            yield BfclRow(id_, row.location, {}, row.fault)
        elif truth is None and category.truth not in ("answer", "none"):
            yield BfclRow(id_, row.location, row.data, f"no ground truth in possible_answer/{file.name}")
        elif truth is not None and truth.fault:
            yield BfclRow(id_, row.location, row.data, f"invalid ground truth: {truth.fault}")
        else:
            calls = _truth_calls(row.data, truth.data if truth else {})
            yield _row_with_truth(category, id_, row, {**row.data, "ground_truth": calls})


def _truth_calls(data: Mapping[str, Json], answer: Mapping[str, Json]) -> Json:
    """The truth as a list of calls, whether or not the file has it under a key of its own."""
    truth = answer.get("ground_truth", {key: value for key, value in answer.items() if key not in _NO_CALLS})
    if not isinstance(truth, Mapping):
        return truth
    functions = data.get("function")
    listed = functions if isinstance(functions, list) else [functions]
    offered = [str(each.get("name")) for each in listed if isinstance(each, Mapping)]
    return [{_offered_name(name, offered): arguments} for name, arguments in truth.items()]


def _offered_name(name: str, offered: list[str]) -> str:
    """The offered function that a key of a truth means. Keys for several calls of one function end in numbers.

    The original checker ignored an unknown name if only one function was offered, and text around an offered name.
    """
    if name in offered or len(offered) == 1:
        return name if name in offered else offered[0]
    bare = _CALL_NUMBER.sub("", name)
    return bare if bare in offered else next((each for each in offered if each in name), name)


def _format_rows(category: Category, folder: Path) -> Iterator[BfclRow]:
    """Yield each question in each format, in the leaderboard's order. Only the id differs from the original row."""
    number = count()
    for name, ids in _format_question_ids(folder / category.questions_file).items():
        wanted = frozenset(ids)
        for row in current_rows(CATEGORIES[name], folder):
            for form in FORMATS if row.id in wanted else ():
                id_ = f"{category.name}_{next(number)}:{form.config}:{row.id}"
                yield BfclRow(id_, row.location, {**row.data, "id": id_}, row.fault)


def _format_question_ids(path: Path) -> Mapping[str, Sequence[str]]:
    """The ids of the questions, by category. Raises ValueError for a file that is not such an object."""
    try:
        ids = read_json(read_regular(path))
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise ValueError(f"{path} is {error}") from None
    if not isinstance(ids, dict) or not all(map(is_strings, ids.values())):
        raise ValueError(f"{path} must be an object with a list of ids for each category")
    for name in ids:
        if name not in CATEGORIES or CATEGORIES[name].truth != "calls" or "java" in name:
            raise ValueError(f"{path} names {name!r:.60}, which is not a single-turn category in Python")
    return ids
