"""Scores by name: the numbers that one case adds to each, and the value over many cases. Numbers are summed, so parts
of a run can be joined in any order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_fcall.conversation.evidence import ComparedCalls, Evidence, Subject
from pytest_fcall.conversation.score_formulas import (
    Graded,
    Overlap,
    Score,
    api_overlap,
    grade_functions,
    grade_parameters,
    lcs_score,
    order_overlap,
    parameter_overlap,
    score_of,
    state_f1,
)
from pytest_fcall.core.reply import Call

ScoreNumbers: TypeAlias = tuple[float, ...]
"""What a case adds to a score."""


@dataclass(frozen=True, slots=True)
class ScoreKind:
    """A score: what it is about, what a case adds (None where there is nothing to score), and what sums come to."""

    about: Subject
    adds: Callable[[Evidence], ScoreNumbers | None]
    comes_to: Callable[..., float | None]
    width: int
    """How many numbers a case adds."""


def score_value(name: str, parts: Iterable[Sequence[float]]) -> float | None:
    """The score of cases that have added these numbers, from 0 to 1; None where there is nothing to divide by.

    Numbers that are none of this score are left aside, and so is a score of another version.
    """
    kind = SCORES.get(name)
    counted = [part for part in parts if kind and len(part) == kind.width]
    return kind.comes_to(*map(fsum, zip(*counted, strict=True))) if kind and counted else None


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _corpus(same: float, made: float, right: float) -> float:
    return Overlap(same, made, right).score.f1


def _of_means(precision: float, recall: float, cases: float) -> float:
    return score_of(precision / cases, recall / cases).f1


def _graded(grade: Callable[[Sequence[Call], Sequence[Call]], Graded]) -> ScoreKind:
    """What is right of what is to be, over all cases."""

    def adds(calls: ComparedCalls) -> ScoreNumbers:
        graded = grade(calls[1], calls[0])
        return graded.right, graded.total

    return _of_calls(adds, _share, 2)


def _counted(overlap: Callable[[ComparedCalls], Overlap]) -> ScoreKind:
    """F1 of what is counted over all cases together."""

    def adds(calls: ComparedCalls) -> ScoreNumbers:
        found = overlap(calls)
        return found.same, found.made, found.right

    return _of_calls(adds, _corpus, 3)


def _averaged(overlap: Callable[[ComparedCalls], Overlap]) -> ScoreKind:
    """The mean F1 of cases."""
    return _of_calls(lambda calls: (overlap(calls).score.f1, 1), _share, 2)


def _of_calls(
    adds: Callable[[ComparedCalls], ScoreNumbers], comes_to: Callable[..., float | None], width: int
) -> ScoreKind:
    return ScoreKind("calls", lambda found: None if found.calls is None else adds(found.calls), comes_to, width)


def _of_state(pick: Callable[[Score], float]) -> ScoreKind:
    """The mean of cases."""

    def adds(found: Evidence) -> ScoreNumbers | None:
        if found.state is None:
            return None
        right, held = found.state
        return pick(state_f1(held, right)), 1

    return ScoreKind("state", adds, _share, 2)


def _of_judge() -> ScoreKind:
    """The share of answers of which a suite's own judge says so; nothing else knows."""
    return ScoreKind("judge", lambda _: None, _share, 2)


def _order(calls: ComparedCalls) -> ScoreNumbers:
    score = order_overlap(calls).score
    return score.precision, score.recall, 1


def _sequence(calls: ComparedCalls) -> ScoreNumbers:
    return lcs_score(_lines(calls[1]), _lines(calls[0])), 1


def _if_executable(found: Evidence) -> ScoreNumbers | None:
    if found.calls is None:
        return None
    return _sequence(found.calls) if found.executable else (0, 0)


def _reward(found: Evidence) -> ScoreNumbers | None:
    """The number that the environment keeps under this name."""
    if found.state is None:
        return None
    value = found.state[1].get(("reward",))
    return (value if isinstance(value, int | float) else 0), 1


def _lines(calls: Iterable[Call]) -> list[str]:
    return [json.dumps([call.name, call.arguments], sort_keys=True) for call in calls]


def _answer(found: Evidence) -> ScoreNumbers | None:
    return None if found.answer is None else (int(found.answer), 1)


SCORES: Final[Mapping[str, ScoreKind]] = MappingProxyType(
    {
        "function_accuracy": _graded(grade_functions),
        "parameter_accuracy": _graded(grade_parameters),
        "answer_accuracy": ScoreKind("answer", _answer, _share, 2),
        "api_f1": _counted(api_overlap),
        "api_f1(corpus)": _counted(api_overlap),
        "api_f1(sample)": _averaged(api_overlap),
        "parameter_f1": _counted(parameter_overlap),
        "parameter_f1(corpus)": _counted(parameter_overlap),
        "parameter_f1(sample)": _averaged(parameter_overlap),
        "lcs_f1": _of_calls(_order, _of_means, 3),
        "state_f1": _of_state(lambda score: score.f1),
        "state_precision": _of_state(lambda score: score.precision),
        "state_recall": _of_state(lambda score: score.recall),
        "lcs": _of_calls(_sequence, _share, 2),
        "lcs(executable)": ScoreKind("calls", _if_executable, _share, 2),
        "reward": ScoreKind("state", _reward, _share, 2),
        "executability": ScoreKind("reply", lambda found: (int(found.executable), 1), _share, 2),
        "domain_accuracy": _of_judge(),
        "exact_accuracy": _of_judge(),
        "hallucination": _of_judge(),
        "wrong": _of_judge(),
        "unparsable": _of_judge(),
    }
)
"""All there are, by the names that people give them."""
