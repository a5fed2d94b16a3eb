"""The scores of Mannheim, API-BLEND and ToolBench, as pure functions. None of them decides what is good enough."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, TypeAlias, TypeVar

from pytest_fcall.core.reply import Call
from pytest_fcall.core.values import Json

Grade: TypeAlias = Literal["Correct", "Partially Correct", "Incorrect"]
ExpectedPath: TypeAlias = Sequence[Call]
ComparedCalls: TypeAlias = tuple[Sequence[Call], Sequence[Call]]
"""The calls that are right, and the calls that were made."""
Average: TypeAlias = Literal["corpus", "sample"]

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Graded:
    """How many of how many were right, and what that is called."""

    grade: Grade
    right: int
    total: int


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall, and what unites them."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Overlap:
    """How many there are on both sides, of how many that were made and how many that are right."""

    same: float
    made: float
    right: float

    @property
    def score(self) -> Score:
        """Where neither side has anything, that is right; where only one has, nothing is."""
        return score_of(_share(self.same, self.made, self.right), _share(self.same, self.right, self.made))


def score_of(precision: float, recall: float) -> Score:
    """Precision and recall, and F1 made of them."""
    total = precision + recall
    return Score(precision, recall, 2 * precision * recall / total if total else 0.0)


# Mannheim


def closest_path(made: Sequence[Call], paths: Sequence[ExpectedPath]) -> ExpectedPath:
    """Of several right paths, the first of those that share the longest run of functions with the calls made."""
    return max(paths, key=lambda path: _longest_run(_names(made), _names(path)))


def grade_functions(made: Sequence[Call], path: ExpectedPath) -> Graded:
    """Grade the functions called: those in the longest run, without a gap, that the path has, too, are right."""
    right = _longest_run(_names(made), _names(path))
    complete = right == len(path) == len(made)
    return _graded(right, len(path), complete=complete)


def grade_parameters(made: Sequence[Call], path: ExpectedPath) -> Graded:
    """Grade the arguments, call by call, where the calls line up with the path: further arguments are free.

    Where no more calls were made than the path has, they must be how it begins; else none of them counts, nor does any
    of the path's. Where more were made, as many count as are in the longest run, from where the path begins in them.
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
) -> Grade:
    """Grade an answer, None where there is none to be read: the same keys, and the same values.

    The order of a list matters only below the keys that `ordered` names.
    """
    if answer is None or answer.keys() != expected.keys():
        return "Incorrect"
    for key, value in expected.items():
        if not (answer[key] == value if key in ordered else same_value(answer[key], value)):
            return "Incorrect"
    return "Correct"


def same_value(one: Json, other: Json) -> bool:
    """Whether numbers are the same to two decimals, lists in some order, and all else exactly. `True` is 1."""
    if isinstance(one, list) and isinstance(other, list):
        try:
            return sorted(one) == sorted(other)
        except TypeError:  # of different types, which have no order
            return one == other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return round(one, 2) == round(other, 2)
    return one == other


def accuracy(graded: Iterable[Graded]) -> float:
    """What is right of all that is to be, over many answers; 0 where there is nothing."""
    counted = [(each.right, each.total) for each in graded]
    total = sum(total for _, total in counted)
    return sum(right for right, _ in counted) / total if total else 0.0


# API-BLEND


def api_overlap(sample: ComparedCalls) -> Overlap:
    """Compare which functions are called, however often each, in any order."""
    right, made = sample
    return _common(_names(right), _names(made))


def parameter_overlap(sample: ComparedCalls) -> Overlap:
    """Compare the arguments: each is a function, a name and a value."""
    right, made = sample
    return _common(_parameters(right), _parameters(made))


def order_overlap(sample: ComparedCalls) -> Overlap:
    """Compare the order of functions: what both have is their longest common subsequence."""
    right, made = sample
    return Overlap(_longest_subsequence(_names(right), _names(made)), len(made), len(right))


def api_f1(samples: Sequence[ComparedCalls], average: Average = "corpus") -> Score:
    """Compare which functions are called.

    Over the corpus all samples are counted together; over samples, each has its score and the mean is taken.
    """
    return _averaged([api_overlap(sample) for sample in samples], average)


def parameter_f1(samples: Sequence[ComparedCalls], average: Average = "corpus") -> Score:
    """Compare the arguments. Counted as in `api_f1`."""
    return _averaged([parameter_overlap(sample) for sample in samples], average)


def lcs_f1(samples: Sequence[ComparedCalls]) -> Score:
    """Compare the order of functions. Precision and recall are means over samples, and F1 is made of the means."""
    scores = [order_overlap(sample).score for sample in samples]
    if not scores:
        return score_of(0.0, 0.0)
    return score_of(fmean(score.precision for score in scores), fmean(score.recall for score in scores))


# ToolBench


def state_f1(state: Mapping[_Key, object], expected: Mapping[_Key, object]) -> Score:
    """Compare what an environment holds in the end with what it is to hold, key by key; values by `==`."""
    same = sum(key in expected and expected[key] == value for key, value in state.items())
    return Overlap(same, len(state), len(expected)).score


def lcs_score(lines: Sequence[str], expected: Sequence[str]) -> float:
    """The longest common subsequence of lines, of the longer of the two; 1 where both are empty."""
    longer = max(len(lines), len(expected))
    return _longest_subsequence(lines, expected) / longer if longer else 1.0


def executability(executable: Sequence[bool]) -> float:
    """The share of answers that could be carried out; 0 where there is none."""
    return fmean(executable) if executable else 0.0


def _graded(right: int, total: int, *, complete: bool) -> Graded:
    return Graded(("Correct" if complete else "Partially Correct") if right else "Incorrect", right, total)


def _names(calls: Sequence[Call]) -> list[str]:
    return [call.name for call in calls]


def _parameters(calls: Sequence[Call]) -> list[tuple[str, str, str]]:
    return [
        (call.name, name, json.dumps(value, sort_keys=True)) for call in calls for name, value in call.arguments.items()
    ]


def _common(right: Sequence[Hashable], made: Sequence[Hashable]) -> Overlap:
    return Overlap((Counter(right) & Counter(made)).total(), len(made), len(right))


def _averaged(overlaps: Sequence[Overlap], average: Average) -> Score:
    if not overlaps:
        return score_of(0.0, 0.0)
    if average == "corpus":
        counts = ((each.same, each.made, each.right) for each in overlaps)
        return Overlap(*map(sum, zip(*counts, strict=True))).score
    scores = [each.score for each in overlaps]
    return Score(
        fmean(score.precision for score in scores),
        fmean(score.recall for score in scores),
        fmean(score.f1 for score in scores),
    )


def _share(part: float, whole: float, other: float) -> float:
    """A part of a whole; of nothing, all is had where there was nothing to be had."""
    return part / whole if whole else float(not other)


def _agree(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether the shorter is how the longer begins."""
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
