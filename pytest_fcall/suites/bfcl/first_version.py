"""The files of the leaderboard's first version, of 2024."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.categories import Category
from pytest_fcall.suites.bfcl.data import BrokenLine, Row, records, row_of

_NUMBER: Final = re.compile(r"[ _]\d+\Z")
_NAMES: Final = ("id", "index")


def first_rows(category: Category, file: Path) -> Iterator[Row]:
    """The rows of a file of questions, with the ids of today: questions and truths were paired by their places.

    Raises ValueError, in words, for a file that is not there.
    """
    answers = file.parent / "possible_answer" / file.name
    truths = [data for _, data in records(answers)] if answers.is_file() else []
    for number, (place, data) in enumerate(records(file)):
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
            yield row_of(category, id_, place, data, {**data, "ground_truth": _truth(data, truth or {})})


def _truth(data: Mapping[str, Json], answer: Mapping[str, Json]) -> Json:
    """The truth as a list of calls, whether it has a key of its own or not."""
    found = answer.get("ground_truth", {key: value for key, value in answer.items() if key not in _NAMES})
    if not isinstance(found, Mapping):
        return found
    offered = _offered(data.get("function"))
    return [{_meant(name, offered): arguments} for name, arguments in found.items()]


def _offered(functions: Json) -> list[str]:
    listed = functions if isinstance(functions, list) else [functions]
    return [str(each.get("name")) for each in listed if isinstance(each, Mapping)]


def _meant(name: str, offered: list[str]) -> str:
    """The function that a key of a truth is about: several calls of one were told apart by numbers.

    What is none was never looked at where there is only one function, nor was what stands around a name.
    """
    bare = _NUMBER.sub("", name)
    if name in offered or len(offered) == 1:
        return name if name in offered else offered[0]
    return bare if bare in offered else next((each for each in offered if each in name), name)
