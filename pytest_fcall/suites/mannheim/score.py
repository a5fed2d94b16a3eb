"""Scores one stored answer by the original rules."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fcall.conversation.score_formulas import (
    ExpectedPath,
    Grade,
    Graded,
    closest_path,
    grade_answer,
    grade_functions,
    grade_parameters,
)
from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_files import BrokenRow

# In this order. Each takes linear time.
_REPLACEMENTS = (
    (re.compile(r"(?<=\{)\s++"), ""),
    (re.compile(r"\s\}++"), "}"),
    (re.compile(r"(?<=\[)\s++"), ""),
    (re.compile(r"(?<!\s)\s++(?=\])"), ""),
    (re.compile(r"(?<=,)\s++(?!\w)"), ""),
    (re.compile(r"/s*+,"), ","),
    (re.compile(r"(?<=:)\s++"), ""),
    (re.compile(r"(?<!\s)\s++(?=:)"), ""),
    # Here ends the tidying for this one: a quote after a letter or a blank, and before more text, is an apostrophe.
    (re.compile(r'(?<=[\s\w])"(?![:,}\]])'), "'"),
)


def answer_object(text: str) -> Mapping[str, Json] | None:
    """Give the object between the first `{` and the first `}` after it; None where that is none.

    Quotes may be single. An object within it is cut in two, and so cannot be read.
    """
    text = text.replace("'", '"')
    for pattern, replacement in _REPLACEMENTS:
        text = pattern.sub(replacement, text)
    start = text.find("{")
    end = text.find("}", start)
    if start < 0 or end < 0:
        return None
    try:
        found: dict[str, Json] = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return found


@dataclass(frozen=True, slots=True)
class MannheimScore:
    """The grades of the functions called, of their arguments, and of the answer."""

    functions: Graded
    parameters: Graded
    answer: Grade

    def as_row(self) -> dict[str, Json]:
        """The grades as `fcall score` prints them, with what was right and what was to be."""
        return {
            "function": self.functions.grade,
            "argument": self.parameters.grade,
            "answer": self.answer,
            "fc": self.functions.right,
            "ft": self.functions.total,
            "pc": self.parameters.right,
            "pt": self.parameters.total,
        }


def score_row(row: Mapping[str, Json]) -> MannheimScore:
    """Score `called`, `called_parameters` and `answer` by `paths` and `expected`; BrokenRow where one is no such thing.

    An answer of null is none, which is incorrect.
    """
    made, further = _paired_calls(row.get("called"), row.get("called_parameters"), "called")
    paths = [_path(each) for each in _list_field(row, "paths")]
    if not paths:
        raise BrokenRow("`paths` is empty")
    path = closest_path(made, paths)
    # A log may have parameters of calls whose names it lacks. They count where the path goes on.
    filled = [*made, *(Call(gold.name, given) for gold, given in zip(path[len(made) :], further, strict=False))]
    return MannheimScore(grade_functions(made, path), grade_parameters(filled, path), _answer(row))


def _answer(row: Mapping[str, Json]) -> Grade:
    said, expected = row.get("answer"), row.get("expected")
    if said is not None and not isinstance(said, str):
        raise BrokenRow("`answer` is neither text nor null")
    if not isinstance(expected, Mapping) or not isinstance(values := expected.get("answer"), Mapping):
        raise BrokenRow("`expected` is no object with an object `answer`")
    return grade_answer(
        None if said is None else answer_object(said), values, tuple(map(str, _list_field(expected, "ordered_items")))
    )


def _path(data: Json) -> ExpectedPath:
    if not isinstance(data, list) or len(data) != 2:
        raise BrokenRow("`paths` does not hold pairs of functions and their parameters")
    return _paired_calls(data[0], data[1], "paths")[0]


def _paired_calls(names: Json, parameters: Json, where: str) -> tuple[list[Call], list[Mapping[str, Json]]]:
    """The calls, and parameters that are left when all names have theirs; a name may lack them."""
    if not isinstance(names, list) or not isinstance(parameters, list):
        raise BrokenRow(f"`{where}` does not hold a list of names and a list of parameters")
    given = [each for each in parameters if isinstance(each, Mapping)]
    if len(given) < len(parameters) or not all(isinstance(name, str) for name in names):
        raise BrokenRow(f"`{where}` holds names that are no strings, or parameters that are no objects")
    missing: list[Mapping[str, Json]] = [{}] * (len(names) - len(given))
    calls = [Call(str(name), each) for name, each in zip(names, [*given, *missing], strict=False)]
    return calls, given[len(names) :]


def _list_field(row: Mapping[str, Json], key: str) -> Sequence[Json]:
    value = row.get(key)
    if not isinstance(value, list):
        raise BrokenRow(f"`{key}` is no list")
    return value
