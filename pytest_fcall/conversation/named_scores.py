"""Scores by name: the numbers that a case adds to each, and the value over many cases.

Numbers are summed, so parts of a run can be joined in any order.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from pytest_fcall.conversation.evidence import ConversationEvidence, Subject
from pytest_fcall.conversation.score_formulas import (
    ComparedCalls,
    GradedParts,
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
from pytest_fcall.core.values import Json

ScoreNumbers: TypeAlias = tuple[float, ...]
"""The numbers that a case adds to a score."""
_WORD: Final = re.compile(r"[^\W_]+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ARTICLES: Final = frozenset({"a", "an", "the"})


@dataclass(frozen=True, slots=True)
class ScoreKind:
    """A score: its subject, the numbers of a case (None where there is nothing to score), and the value of sums."""

    subject: Subject
    numbers: Callable[[ConversationEvidence], ScoreNumbers | None]
    value: Callable[..., float | None]
    width: int
    """The count of numbers."""


def score_value(name: str, parts: Iterable[Sequence[float]]) -> float | None:
    """The score of cases that have added these numbers, from 0 to 1; None where there is nothing to divide by.

    Parts of another length are left out: they belong to another version of the score.
    """
    kind = SCORES.get(name)
    counted = [part for part in parts if kind and len(part) == kind.width]
    return kind.value(*map(fsum, zip(*counted, strict=True))) if kind and counted else None


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _corpus_f1(common: float, made: float, right: float) -> float:
    return Overlap(common, made, right).score.f1


def _f1_of_means(precision: float, recall: float, cases: float) -> float:
    return score_of(precision / cases, recall / cases).f1


def _graded(grade: Callable[[Sequence[Call], Sequence[Call]], GradedParts]) -> ScoreKind:
    """The share of right parts, over all cases."""

    def numbers(calls: ComparedCalls) -> ScoreNumbers:
        right, made = calls
        graded = grade(made, right)
        return graded.right, graded.total

    return _of_calls(numbers, _share, 2)


def _counted(overlap: Callable[[ComparedCalls], Overlap]) -> ScoreKind:
    """F1 of the counts of all cases together."""

    def numbers(calls: ComparedCalls) -> ScoreNumbers:
        counts = overlap(calls)
        return counts.common, counts.made, counts.right

    return _of_calls(numbers, _corpus_f1, 3)


def _averaged(overlap: Callable[[ComparedCalls], Overlap]) -> ScoreKind:
    """The mean F1 of cases."""
    return _of_calls(lambda calls: (overlap(calls).score.f1, 1), _share, 2)


def _of_calls(
    numbers: Callable[[ComparedCalls], ScoreNumbers], value: Callable[..., float | None], width: int
) -> ScoreKind:
    return ScoreKind(
        "calls", lambda evidence: None if evidence.calls is None else numbers(evidence.calls), value, width
    )


def _of_state(pick: Callable[[Score], float]) -> ScoreKind:
    """The mean of cases."""

    def numbers(evidence: ConversationEvidence) -> ScoreNumbers | None:
        if evidence.state is None:
            return None
        right, state = evidence.state
        return pick(state_f1(state, right)), 1

    return ScoreKind("state", numbers, _share, 2)


def _of_judge() -> ScoreKind:
    """The share of answers for which the judge of a suite adds the numbers; evidence has none of them."""
    return ScoreKind("judge", lambda _: None, _share, 2)


def _order(calls: ComparedCalls) -> ScoreNumbers:
    score = order_overlap(calls).score
    return score.precision, score.recall, 1


def _sequence(calls: ComparedCalls) -> ScoreNumbers:
    right, made = calls
    return lcs_score(_lines(made), _lines(right)), 1


def _lines(calls: Iterable[Call]) -> list[str]:
    return [json.dumps([call.name, call.arguments], sort_keys=True) for call in calls]


def _sequence_if_executable(evidence: ConversationEvidence) -> ScoreNumbers | None:
    if evidence.calls is None:
        return None
    return _sequence(evidence.calls) if evidence.executable else (0, 0)


def _reward(evidence: ConversationEvidence) -> ScoreNumbers | None:
    """The attribute `reward` of the environment."""
    if evidence.state is None:
        return None
    value = evidence.state[1].get(("reward",))
    return (value if isinstance(value, int | float) else 0), 1


def _answer(evidence: ConversationEvidence) -> ScoreNumbers | None:
    return None if evidence.answer is None else (int(evidence.answer), 1)


class _Argument(NamedTuple):
    function: str
    name: str
    value: Json

    @property
    def exact(self) -> tuple[str, str, str]:
        return self.function, self.name, json.dumps(self.value, sort_keys=True)


def near_parameter_overlap(sample: ComparedCalls) -> Overlap:
    """Compare the arguments as `parameter_overlap` does, and count those that are near beside those that are equal.

    Near are arguments that miss the right ones by their notation alone: values that are not normalised, and similar
    names. API-BLEND's publication names these as errors of notation (5.7) and gives no rule for them; this one is ours.
    """
    right, made = (_arguments(calls) for calls in sample)
    rest, unmatched = list(right), list[_Argument]()
    for each in made:
        equal = next((other for other in rest if other.exact == each.exact), None)
        if equal is None:
            unmatched.append(each)
        else:
            rest.remove(equal)
    for each in unmatched:
        if near := next((other for other in rest if _is_near(each, other)), None):
            rest.remove(near)
    return Overlap(len(right) - len(rest), len(made), len(right))


def _arguments(calls: Sequence[Call]) -> list[_Argument]:
    return [_Argument(call.name, name, value) for call in calls for name, value in call.arguments.items()]


def _is_near(one: _Argument, other: _Argument) -> bool:
    """Whether two arguments of a function agree in the words of their values, and in their name or some word of it."""
    names = [set(_words(each.name)) for each in (one, other)]
    if one.function != other.function or (one.name != other.name and not names[0] & names[1]):
        return False
    value, right = (_words(_text(each.value)) for each in (one, other))
    return bool(value and right) and (_holds(value, right) or _holds(right, value))


def _text(value: Json) -> str:
    if isinstance(value, list):
        return " ".join(map(_text, value))
    return value if isinstance(value, str) else json.dumps(value)


def _words(text: str) -> list[str]:
    found = [word.casefold() for word in _WORD.findall(_HUMP.sub(" ", text))]
    return [word for word in found if word not in _ARTICLES] or found


def _holds(whole: Sequence[str], part: Sequence[str]) -> bool:
    """Whether the words of one value stand in the other one after the other."""
    return any(whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1))


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
        "near_parameter_f1": _counted(near_parameter_overlap),
        "lcs_f1": _of_calls(_order, _f1_of_means, 3),
        "state_f1": _of_state(lambda score: score.f1),
        "state_precision": _of_state(lambda score: score.precision),
        "state_recall": _of_state(lambda score: score.recall),
        "lcs": _of_calls(_sequence, _share, 2),
        "lcs(executable)": ScoreKind("calls", _sequence_if_executable, _share, 2),
        "success_rate": _of_judge(),
        "reward": ScoreKind("state", _reward, _share, 2),
        "executability": ScoreKind("reply", lambda evidence: (int(evidence.executable), 1), _share, 2),
        "domain_accuracy": _of_judge(),
        "exact_accuracy": _of_judge(),
        "hallucination": _of_judge(),
        "wrong": _of_judge(),
        "outdated": _of_judge(),
        "unparsable": _of_judge(),
        "constraints_met": _of_judge(),
        "constraints_unmet": _of_judge(),
        "constraints_unjudged": _of_judge(),
        "other_parser": _of_judge(),
        "partial_match": _of_judge(),
        "full_match": _of_judge(),
        "parsing_errors": _of_judge(),
    }
)
"""All scores, by the names that users write."""
