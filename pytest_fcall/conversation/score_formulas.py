"""The scores of Mannheim, API-BLEND and ToolBench, as pure functions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json

PartialGrade: TypeAlias = Literal["Correct", "Partially Correct", "Incorrect"]
ExpectedPath: TypeAlias = Sequence[Call]
ComparedCalls: TypeAlias = tuple[Sequence[Call], Sequence[Call]]
"""The right calls, and the calls that were made."""

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class GradedParts:
    """The number of right parts, of how many, and the grade for that."""

    grade: PartialGrade
    right: int
    total: int


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Overlap:
    """Counts of two sides: parts on both, all parts that were made, and all parts that are right."""

    common: float
    made: float
    right: float

    @property
    def score(self) -> Score:
        """Precision, recall and F1: 1 where both sides are empty, 0 where only one is."""
        return score_of(
            _share_or_full(self.common, self.made, self.right), _share_or_full(self.common, self.right, self.made)
        )


def score_of(precision: float, recall: float) -> Score:
    """The score of a precision and a recall."""
    total = precision + recall
    return Score(precision, recall, 2 * precision * recall / total if total else 0.0)


# Mannheim


def closest_path(made: Sequence[Call], paths: Sequence[ExpectedPath]) -> ExpectedPath:
    """The right path that shares the longest run of functions with the calls; the first of several."""
    return max(paths, key=lambda path: _longest_run(_names(made), _names(path)))


def grade_functions(made: Sequence[Call], path: ExpectedPath) -> GradedParts:
    """Grade the functions: right are those in the longest run, without a gap, that is also in the path."""
    right = _longest_run(_names(made), _names(path))
    complete = right == len(path) == len(made)
    return _graded(right, len(path), complete=complete)


def grade_parameters(made: Sequence[Call], path: ExpectedPath) -> GradedParts:
    """Grade the arguments, call by call, where the calls line up with the path. Additional arguments do not count.

    Calls that are not more than those of the path must be its beginning; otherwise nothing counts, of the path
    neither. Of more calls, as many count as the longest run has, from where the path begins in them.
    """
    names, expected = _names(made), _names(path)
    if len(made) <= len(path):
        if names != expected[: len(names)]:
            return _graded(0, 0, complete=False)
        counted = made
    else:
        run = _longest_run(names, expected)
        starts = (start for start in range(len(names) - run + 1) if _agree(names[start:], expected))
        start = next(starts, len(names))
        counted = made[start : start + run]
    right = sum(
        key in gold.arguments and same_value(value, gold.arguments[key])
        for call, gold in zip(counted, path, strict=False)
        for key, value in call.arguments.items()
    )
    total = sum(len(gold.arguments) for gold in path)
    return _graded(right, total, complete=right == total)


def grade_answer(
    answer: Mapping[str, Json] | None, expected: Mapping[str, Json], ordered: Collection[str] = ()
) -> PartialGrade:
    """Grade an answer by its keys and values; None is an unreadable answer.

    The order of a list matters only for the keys in `ordered`.
    """
    if answer is None or answer.keys() != expected.keys():
        return "Incorrect"
    for key, value in expected.items():
        if not (answer[key] == value if key in ordered else same_value(answer[key], value)):
            return "Incorrect"
    return "Correct"


def same_value(one: Json, other: Json) -> bool:
    """Whether two values are equal: numbers to two decimals, lists in any order, all else exactly. `True` is 1."""
    if isinstance(one, list) and isinstance(other, list):
        try:
            return sorted(one) == sorted(other)
        except TypeError:  # values of several types cannot be sorted
            return one == other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return round(one, 2) == round(other, 2)
    return one == other


# API-BLEND


def api_overlap(sample: ComparedCalls) -> Overlap:
    """Compare the functions, in any order; a function counts as often as it is called."""
    right, made = sample
    return _common(_names(right), _names(made))


def parameter_overlap(sample: ComparedCalls) -> Overlap:
    """Compare the arguments, as triples of function, name and value."""
    right, made = sample
    return _common(_parameters(right), _parameters(made))


def order_overlap(sample: ComparedCalls) -> Overlap:
    """Compare the order of functions, by their longest common subsequence."""
    right, made = sample
    return Overlap(_longest_subsequence(_names(right), _names(made)), len(made), len(right))


# ToolBench


def state_f1(state: Mapping[_Key, object], expected: Mapping[_Key, object]) -> Score:
    """Compare the final state of an environment with the expected one, key by key; values by `==`."""
    common = sum(key in expected and expected[key] == value for key, value in state.items())
    return Overlap(common, len(state), len(expected)).score


def lcs_score(lines: Sequence[str], expected: Sequence[str]) -> float:
    """The longest common subsequence, as a share of the longer list; 1 where both are empty."""
    longer = max(len(lines), len(expected))
    return _longest_subsequence(lines, expected) / longer if longer else 1.0


def _graded(right: int, total: int, *, complete: bool) -> GradedParts:
    return GradedParts(("Correct" if complete else "Partially Correct") if right else "Incorrect", right, total)


def _names(calls: Sequence[Call]) -> list[str]:
    return [call.name for call in calls]


def _parameters(calls: Sequence[Call]) -> list[tuple[str, str, str]]:
    return [
        (call.name, name, json.dumps(value, sort_keys=True)) for call in calls for name, value in call.arguments.items()
    ]


def _common(right: Sequence[Hashable], made: Sequence[Hashable]) -> Overlap:
    return Overlap((Counter(right) & Counter(made)).total(), len(made), len(right))


def _share_or_full(part: float, whole: float, other: float) -> float:
    """The share of a part. Of an empty whole, it is 1 where the other side is empty, too, and else 0."""
    return part / whole if whole else float(not other)


def _agree(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether the longer list begins with the shorter one."""
    return all(each == same for each, same in zip(one, other, strict=False))


def _longest_run(one: Sequence[str], other: Sequence[str]) -> int:
    longest, above = 0, [0] * (len(other) + 1)
    for item in one:
        row = [0]
        row.extend(above[index] + 1 if item == each else 0 for index, each in enumerate(other))
        longest, above = max(longest, *row), row
    return longest


def _longest_subsequence(one: Sequence[str], other: Sequence[str]) -> int:
    above = [0] * (len(other) + 1)
    for item in one:
        row = [0]
        for index, each in enumerate(other):
            row.append(above[index] + 1 if item == each else max(above[index + 1], row[index]))
        above = row
    return above[-1]
