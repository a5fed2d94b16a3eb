"""Scores one stored answer by the original rules."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pytest_fcall.conversation.score_formulas import (
    ExpectedPath,
    GradedParts,
    PartialGrade,
    closest_path,
    grade_answer,
    grade_functions,
    grade_parameters,
)
from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json, is_strings
from pytest_fcall.suites.json_files import BrokenRow, list_field

# Replaced in this order. Each pattern takes linear time.
_REPLACEMENTS = (
    (re.compile(r"(?<=\{)\s++"), ""),
    (re.compile(r"\s\}++"), "}"),
    (re.compile(r"(?<=\[)\s++"), ""),
    (re.compile(r"(?<!\s)\s++(?=\])"), ""),
    (re.compile(r"(?<=,)\s++(?!\w)"), ""),
    (re.compile(r"/s*+,"), ","),
    (re.compile(r"(?<=:)\s++"), ""),
    (re.compile(r"(?<!\s)\s++(?=:)"), ""),
    # Last, since it needs the blanks removed: a quote after a letter or blank, and before more text, is an apostrophe.
    (re.compile(r'(?<=[\s\w])"(?![:,}\]])'), "'"),
)


def answer_object(text: str) -> Mapping[str, Json] | None:
    """Return the object between the first `{` and the first `}` after it; None if it cannot be read.

    Quotes may be single. A nested object is cut in two, and so cannot be read.
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

    functions: GradedParts
    parameters: GradedParts
    answer: PartialGrade

    def as_row(self) -> dict[str, Json]:
        """Return the grades as `fcall score` prints them, with the counts of right and expected items."""
        return {
            "function": self.functions.grade,
            "argument": self.parameters.grade,
            "answer": self.answer,
            "fc": self.functions.right,
            "ft": self.functions.total,
            "pc": self.parameters.right,
            "pt": self.parameters.total,
        }

    def accuracies(self) -> dict[str, tuple[float, ...]]:
        """Return what the answer adds to each accuracy: right items, and all."""
        return {
            "function_accuracy": (self.functions.right, self.functions.total),
            "parameter_accuracy": (self.parameters.right, self.parameters.total),
            "answer_accuracy": (int(self.answer == "Correct"), 1),
        }


def score_answer(
    made: Sequence[Call],
    paths: Sequence[ExpectedPath],
    text: str,
    expected: Mapping[str, Json],
    ordered: Collection[str] = (),
) -> MannheimScore:
    """Score the calls that were made, and the text that came in the end."""
    path = closest_path(made, paths)
    answer = grade_answer(answer_object(text), expected, ordered)
    return MannheimScore(grade_functions(made, path), grade_parameters(made, path), answer)


def score_row(row: Mapping[str, Json]) -> MannheimScore:
    """Score `called`, `called_parameters` and `answer` by `paths` and `expected`. Raises BrokenRow.

    A null answer is incorrect, and null for what was called is nothing.
    """
    made, further = _calls_made(row)
    paths = row_paths(row)
    path = closest_path(made, paths)
    # A log may have parameters of calls without names. They count for the rest of the path.
    filled = [*made, *(Call(gold.name, given) for gold, given in zip(path[len(made) :], further, strict=False))]
    return MannheimScore(grade_functions(made, path), grade_parameters(filled, path), _answer(row))


def row_calls(row: Mapping[str, Json]) -> Sequence[Call]:
    """Return the calls that a row says were made. Raises BrokenRow."""
    return _calls_made(row)[0]


def row_paths(row: Mapping[str, Json]) -> Sequence[ExpectedPath]:
    """Return the right paths of a row. Raises BrokenRow."""
    if paths := [_path(each) for each in list_field(row, "paths")]:
        return paths
    raise BrokenRow("`paths` is empty")


def _answer(row: Mapping[str, Json]) -> PartialGrade:
    text, expected = row.get("answer"), row.get("expected")
    if text is not None and not isinstance(text, str):
        raise BrokenRow("`answer` must be a string or null")
    if not isinstance(expected, Mapping) or not isinstance(values := expected.get("answer"), Mapping):
        raise BrokenRow("`expected` must be an object with an object `answer`")
    ordered = tuple(map(str, list_field(expected, "ordered_items")))
    return grade_answer(None if text is None else answer_object(text), values, ordered)


def _calls_made(row: Mapping[str, Json]) -> tuple[list[Call], list[Mapping[str, Json]]]:
    if "called" not in row:
        raise BrokenRow("`called` is missing; a model that called nothing has null or an empty list there")
    names, parameters = (row.get(key) for key in ("called", "called_parameters"))
    return _paired_calls([] if names is None else names, [] if parameters is None else parameters, "called")


def _path(data: Json) -> ExpectedPath:
    if not isinstance(data, list) or len(data) != 2:
        raise BrokenRow("`paths` must hold pairs of functions and their parameters")
    return _paired_calls(data[0], data[1], "paths")[0]


def _paired_calls(names: Json, parameters: Json, where: str) -> tuple[list[Call], list[Mapping[str, Json]]]:
    """The calls, and the parameters without a name. A name without parameters has none."""
    if not isinstance(names, list) or not isinstance(parameters, list):
        raise BrokenRow(f"`{where}` must hold a list of names and a list of parameters")
    given = [each for each in parameters if isinstance(each, Mapping)]
    if len(given) < len(parameters) or not is_strings(names):
        raise BrokenRow(f"in `{where}`, names must be strings, and parameters objects")
    missing: list[Mapping[str, Json]] = [{}] * (len(names) - len(given))
    calls = [Call(name, each) for name, each in zip(names, [*given, *missing], strict=False)]
    return calls, given[len(names) :]
