"""The leaderboard's data: the folder, and the rows of a category in each version's files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Final

from pytest_fcall.core.fault import Location
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.bfcl import Undecodable, decode_prompt
from pytest_fcall.suites.bfcl.categories import CATEGORIES, Category
from pytest_fcall.suites.bfcl.prompt_formats import FORMATS
from pytest_fcall.suites.json_files import BrokenFile, BrokenRow, open_lines, parse_record, read_lines

BFCL_PACKAGE = "bfcl_eval"
HOW_TO_GET_IT = "pip install --no-deps bfcl-eval, or name the folder of the files with path: or --fc-suite-path"
_READ_FILES = "BFCL_v4_*.json, and gorilla_openfunctions_v1_test_*.json of 2024"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of questions with its ground truth, as `case_of` reads it; or what is wrong with it, in words."""

    id: str
    place: Location
    data: Mapping[str, Json]
    fault: str = ""


def find_data_folder(path: Path | None) -> Path | None:
    """The folder of data: the one given, the one inside it, or that of the installed package; None without one.

    The package is not imported, since that would import the SDK of every vendor.
    """
    found = find_spec(BFCL_PACKAGE) if path is None else None
    bases = (
        [path] if path is not None else [Path(place) for place in (found and found.submodule_search_locations) or ()]
    )
    inside = ("", "data", f"{BFCL_PACKAGE}/data")
    return next((base / name for base in bases for name in inside if _has_files(base / name)), None)


def _has_files(folder: Path) -> bool:
    names = (name for each in CATEGORIES.values() for name in (each.questions, each.first_version) if name)
    return any((folder / name).is_file() for name in names)


def data_folder(path: Path | None) -> Path:
    """The folder of data. Raises ValueError, in words, where there is none."""
    if folder := find_data_folder(path):
        return folder
    if path is not None and (between := next(path.glob("BFCL_v[123]_*.json"), None)):
        raise ValueError(
            f"{path} has files such as {between.name}, which are not read: the suite bfcl reads {_READ_FILES}"
        )
    where = f"in {path}" if path is not None else "installed"
    raise ValueError(f"the data of the suite bfcl is not {where}: {HOW_TO_GET_IT}")


def current_rows(category: Category, folder: Path) -> Iterator[Row]:
    """The rows of a category in the order of the file. Raises ValueError, in words, for a file that is not there."""
    truths = _truth_by_id(category, folder)
    for number, (place, data) in enumerate(read_records(folder / category.questions)):
        name = data.get("id")
        id_ = name if isinstance(name, str) and name else f"{category.name}_{number}"  # chatable rows have none
        if isinstance(data, BrokenLine):
            yield Row(id_, place, {}, data.why)
        elif category.truth != "none" and id_ not in truths:
            yield Row(id_, place, data, f"there is no ground truth for it in {category.answers}")
        else:
            yield row_with_truth(category, category.id_of(id_), place, data, truths.get(id_, {}))


class BrokenLine(dict[str, Json]):
    """Stands for a line that is no record."""

    def __init__(self, why: str) -> None:
        super().__init__()
        self.why = why


def row_with_truth(
    category: Category, id_: str, place: Location, data: Mapping[str, Json], answer: Mapping[str, Json]
) -> Row:
    """The row of a question and what is right."""
    truth = answer.get("ground_truth", [])
    try:
        judged = _truth_alternatives(category, truth)
    except (Undecodable, BrokenRow) as error:
        return Row(id_, place, data, f"its ground truth cannot be read: {error}")
    functions = data.get("function")
    row: dict[str, Json] = {
        **data,
        "id": id_,
        "category": category.name,
        "function": [functions] if isinstance(functions, Mapping) else functions or [],
        "question": _turns(data.get("question")),
        "ground_truth": judged,
    }
    if category.truth == "source":
        row |= {"sources": truth, "execution_result_type": answer.get("execution_result_type")}
    return Row(id_, place, row)


def _truth_alternatives(category: Category, truth: Json) -> Json:
    """The truth as calls with alternatives: a call in Python source has one for each argument."""
    if category.truth != "source":
        return [] if category.truth == "answer" else truth
    calls: list[Json] = []
    for source in truth if isinstance(truth, list) else [truth]:
        decoded = decode_prompt(source)
        calls += map(_with_lists, decoded if isinstance(decoded, list) else ())
    return calls


def _with_lists(call: Mapping[str, Mapping[str, Json]]) -> Json:
    """A call with a list of alternatives for each argument: the one that it has."""
    return {name: {key: [_alternative(value)] for key, value in given.items()} for name, given in call.items()}


def _alternative(value: Json) -> Json:
    """One alternative: objects, and objects in a list, have a list of their own for each key."""
    if isinstance(value, Mapping):
        return {key: [inner] for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_alternative(item) if isinstance(item, Mapping) else item for item in value]
    return value


def _turns(question: Json) -> Json:
    """The one turn in a list, whether it was written as one, as its messages, or as a text."""
    if isinstance(question, list) and question and isinstance(question[0], Mapping):
        return [question]
    return question


def _truth_by_id(category: Category, folder: Path) -> dict[str, Mapping[str, Json]]:
    if category.answers is None:
        return {}
    found = ((data.get("id"), data) for _, data in read_records(folder / category.answers))
    return {id_: data for id_, data in found if isinstance(id_, str)}


def read_records(path: Path) -> Iterator[tuple[Location, Mapping[str, Json]]]:
    """The lines of a file; what is none is a BrokenLine. Raises ValueError, in words, for a file that is not there."""
    try:
        with open_lines(path) as stream:
            for number, line in enumerate(read_lines(stream), 1):
                if line.strip():
                    yield Location(str(path), number), _record(line)
    except (OSError, BrokenFile) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ValueError(f"{path} cannot be read: {told}") from None


def _record(line: bytes) -> Mapping[str, Json]:
    try:
        return parse_record(line)
    except BrokenRow as error:
        return BrokenLine(str(error))


_CALL_NUMBER: Final = re.compile(r"[ _]\d+\Z")
_NO_CALLS: Final = ("id", "index")


def first_version_rows(category: Category, file: Path) -> Iterator[Row]:
    """The rows of a file of questions, with the ids of today: questions and truths were paired by their places.

    Raises ValueError, in words, for a file that is not there.
    """
    answers = file.parent / "possible_answer" / file.name
    truths = [data for _, data in read_records(answers)] if answers.is_file() else []
    for number, (place, data) in enumerate(read_records(file)):
        id_ = f"{category.name}_{number}"
        # Calls that are carried out were told beside the question.
        truth = truths[number] if number < len(truths) else data if "ground_truth" in data else None
        if isinstance(data, BrokenLine):
            yield Row(id_, place, {}, data.why)
        elif truth is None and category.truth not in ("answer", "none"):
            yield Row(id_, place, data, f"there is no ground truth for it in possible_answer/{file.name}")
        elif isinstance(truth, BrokenLine):
            yield Row(id_, place, data, f"its ground truth cannot be read: {truth.why}")
        else:
            yield row_with_truth(category, id_, place, data, {**data, "ground_truth": _truth_calls(data, truth or {})})


def _truth_calls(data: Mapping[str, Json], answer: Mapping[str, Json]) -> Json:
    """The truth as a list of calls, whether it has a key of its own or not."""
    found = answer.get("ground_truth", {key: value for key, value in answer.items() if key not in _NO_CALLS})
    if not isinstance(found, Mapping):
        return found
    offered = _offered_names(data.get("function"))
    return [{_offered_name(name, offered): arguments} for name, arguments in found.items()]


def _offered_names(functions: Json) -> list[str]:
    listed = functions if isinstance(functions, list) else [functions]
    return [str(each.get("name")) for each in listed if isinstance(each, Mapping)]


def _offered_name(name: str, offered: list[str]) -> str:
    """The function that a key of a truth is about: several calls of one were told apart by numbers.

    What is none was never looked at where there is only one function, nor was what stands around a name.
    """
    bare = _CALL_NUMBER.sub("", name)
    if name in offered or len(offered) == 1:
        return name if name in offered else offered[0]
    return bare if bare in offered else next((each for each in offered if each in name), name)


def format_rows(category: Category, folder: Path) -> Iterator[Row]:
    """Each question in each format, in the leaderboard's order; but for the id, a row is that of its own category.

    Raises ValueError, in words, for a file that is not there, or says something else.
    """
    number = count()
    for name, ids in format_question_ids(folder / category.questions).items():
        wanted = frozenset(ids)
        for row in current_rows(CATEGORIES[name], folder):
            for form in FORMATS if row.id in wanted else ():
                id_ = f"{category.name}_{next(number)}:{form.config}:{row.id}"
                yield Row(id_, row.place, {**row.data, "id": id_}, row.fault)


def format_question_ids(path: Path) -> Mapping[str, Sequence[str]]:
    """The ids of the questions, by their categories. Raises ValueError, in words."""
    try:
        asked = json.loads(path.read_bytes())
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    if not isinstance(asked, dict) or not all(map(_is_texts, asked.values())):
        raise ValueError(f"{path} is not an object that lists ids by category")
    for name in asked:
        if name not in CATEGORIES or CATEGORIES[name].truth != "calls" or "java" in name:
            raise ValueError(f"{path} names {name!r:.60}, whose cases are not those of one request in Python")
    return asked


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def category_rows(category: Category, folder: Path) -> Iterator[Row]:
    """The rows in their order. Raises ValueError, in words, for a file that is not there."""
    if category.truth == "elsewhere":
        return format_rows(category, folder)
    questions, _ = row_files(category, folder)
    return (
        first_version_rows(category, questions)
        if questions.name == category.first_version
        else current_rows(category, folder)
    )


def count_rows(category: Category, folder: Path) -> int:
    """How many there are, without a look into them. Raises ValueError and OSError for a file that cannot be read."""
    questions, _ = row_files(category, folder)
    if category.truth == "elsewhere":
        return len(FORMATS) * sum(map(len, format_question_ids(questions).values()))
    with questions.open("rb") as stream:
        return sum(1 for line in stream if line.strip())


def row_files(category: Category, folder: Path) -> tuple[Path, Path | None]:
    """The files of questions and truths: those of today, or of the first version where only these are there."""
    if (first := category.first_version) and (folder / first).is_file() and not (folder / category.questions).is_file():
        return folder / first, folder / "possible_answer" / first
    return folder / category.questions, folder / category.answers if category.answers else None
