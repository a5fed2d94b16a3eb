"""The leaderboard's own files: where they are, and their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pytest_fcall.core.fault import Location
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.bfcl import Undecodable, decode_prompt
from pytest_fcall.suites.bfcl.categories import CATEGORIES, Category
from pytest_fcall.suites.json_lines import BrokenFile, BrokenRow, lines, opened, record

PACKAGE = "bfcl_eval"
HOW_TO_GET_IT = "pip install --no-deps bfcl-eval, or name the folder of the files with path: or --fc-suite-path"
_READ = "BFCL_v4_*.json, and gorilla_openfunctions_v1_test_*.json of 2024"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of questions with its ground truth, as `case_of` reads it; or what is wrong with it, in words."""

    id: str
    place: Location
    data: Mapping[str, Json]
    fault: str = ""


def folder_of(path: Path | None) -> Path | None:
    """The folder of data: the one given, the one inside it, or that of the installed package; None without one.

    The package is not imported, since that would import the SDK of every vendor.
    """
    found = find_spec(PACKAGE) if path is None else None
    bases = (
        [path] if path is not None else [Path(place) for place in (found and found.submodule_search_locations) or ()]
    )
    inside = ("", "data", f"{PACKAGE}/data")
    return next((base / name for base in bases for name in inside if _has_files(base / name)), None)


def _has_files(folder: Path) -> bool:
    names = (name for each in CATEGORIES.values() for name in (each.questions, each.first_version) if name)
    return any((folder / name).is_file() for name in names)


def existing_folder(path: Path | None) -> Path:
    """The folder of data. Raises ValueError, in words, where there is none."""
    if folder := folder_of(path):
        return folder
    if path is not None and (between := next(path.glob("BFCL_v[123]_*.json"), None)):
        raise ValueError(f"{path} has files such as {between.name}, which are not read: the suite bfcl reads {_READ}")
    where = f"in {path}" if path is not None else "installed"
    raise ValueError(f"the data of the suite bfcl is not {where}: {HOW_TO_GET_IT}")


def rows_of(category: Category, folder: Path) -> Iterator[Row]:
    """The rows of a category in the order of the file. Raises ValueError, in words, for a file that is not there."""
    truths = _truths(category, folder)
    for number, (place, data) in enumerate(records(folder / category.questions)):
        name = data.get("id")
        id_ = name if isinstance(name, str) and name else f"{category.name}_{number}"  # chatable rows have none
        if isinstance(data, BrokenLine):
            yield Row(id_, place, {}, data.why)
        elif category.truth != "none" and id_ not in truths:
            yield Row(id_, place, data, f"there is no ground truth for it in {category.answers}")
        else:
            yield row_of(category, category.id_of(id_), place, data, truths.get(id_, {}))


class BrokenLine(dict[str, Json]):
    """Stands for a line that is no record."""

    def __init__(self, why: str) -> None:
        super().__init__()
        self.why = why


def row_of(category: Category, id_: str, place: Location, data: Mapping[str, Json], answer: Mapping[str, Json]) -> Row:
    """The row of a question and what is right."""
    truth = answer.get("ground_truth", [])
    try:
        judged = _judged(category, truth)
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


def _judged(category: Category, truth: Json) -> Json:
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


def _truths(category: Category, folder: Path) -> dict[str, Mapping[str, Json]]:
    if category.answers is None:
        return {}
    found = ((data.get("id"), data) for _, data in records(folder / category.answers))
    return {id_: data for id_, data in found if isinstance(id_, str)}


def records(path: Path) -> Iterator[tuple[Location, Mapping[str, Json]]]:
    """The lines of a file; what is none is a BrokenLine. Raises ValueError, in words, for a file that is not there."""
    try:
        with opened(path) as stream:
            for number, line in enumerate(lines(stream), 1):
                if line.strip():
                    yield Location(str(path), number), _record(line)
    except (OSError, BrokenFile) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ValueError(f"{path} cannot be read: {told}") from None


def _record(line: bytes) -> Mapping[str, Json]:
    try:
        return record(line)
    except BrokenRow as error:
        return BrokenLine(str(error))
