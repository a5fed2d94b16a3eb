"""Statistics of results: counts, rates with intervals, times, costs, and causes that failures share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import ceil, comb, sqrt
from typing import Literal, NamedTuple, TypeAlias

from pytest_fcall.core.reply import Usage, known_sum
from pytest_fcall.reporting.results import Result

GroupKind: TypeAlias = Literal["tool", "tag"]

_Z = 1.959963984540054
"""95 % of a normal distribution lie within so many standard deviations."""


class Statistics(NamedTuple):
    """Counts and measurements of a group of results. Accuracy is `right` of `answered`: errors are not answers.

    A figure that was not measured is None, never zero.
    """

    right: int
    answered: int
    expected_failures: int
    errors: int
    skipped: int
    p50: float | None
    p95: float | None
    slowest: float | None
    tokens: int | None
    speed: float | None
    """Output tokens a second, from the request to the end of the reply."""
    cost: float | None
    """In US dollars, of all replies whose cost is known, recorded ones included."""
    new_cost: float | None
    """The part of it that this run spent."""
    unpriced: int
    """Answers whose cost is not known, and requests that may be billed although there was no reply."""
    lost: int
    """These requests alone."""

    @property
    def is_clean(self) -> bool:
        """Whether all answers are right, and there are no errors."""
        return self.right == self.answered and not self.errors


def statistics_of(results: Sequence[Result]) -> Statistics:
    """Count and measure a group of results."""
    answers = [result for result in results if result.answered]
    lost = sum(result.unpriced for result in results)
    seconds = [result.seconds for result in answers if result.seconds is not None]
    return Statistics(
        right=sum(result.right for result in answers),
        answered=len(answers),
        expected_failures=sum(result.status == "xfailed" for result in answers),
        errors=sum(result.status == "error" for result in results),
        skipped=sum(result.status == "skipped" for result in results),
        p50=percentile(seconds, 50),
        p95=percentile(seconds, 95),
        slowest=percentile(seconds, 100),
        tokens=known_sum(token_count(result.usage) for result in answers),
        speed=_speed(answers),
        cost=known_sum(result.cost for result in answers),
        new_cost=known_sum(result.new_cost for result in answers),
        unpriced=sum(result.cost is None for result in answers) + lost,
        lost=lost,
    )


def accuracy_change(results: Iterable[Result]) -> float | None:
    """The change of the accuracy for the cases that were measured before; None where none was."""
    pairs = [(result.before, share_right(result)) for result in results if result.before and result.answered]
    rates = [(right / asked, now) for (right, asked), now in pairs if asked]
    return sum(now - before for before, now in rates) / len(rates) if rates else None


def share_right(result: Result) -> float:
    """The share of right answers to a case. One that was asked again counts by its first answers."""
    right, asked = result.first or result.samples or (int(result.right), 1)
    return right / asked if asked else 0.0


def wilson_interval(right: float, answered: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a rate, which holds for few cases and for rates near 0 and 1, too."""
    if answered == 0:
        return 0.0, 1.0
    rate = right / answered
    middle = rate + _Z**2 / (2 * answered)
    margin = _Z * sqrt(rate * (1 - rate) / answered + _Z**2 / (4 * answered**2))
    scale = 1 + _Z**2 / answered
    return max((middle - margin) / scale, 0.0), min((middle + margin) / scale, 1.0)


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Student's 95 % interval of a mean; None for fewer than four values, of which it would say nothing."""
    if len(values) < 4:
        return None
    free = len(values) - 1
    mean = sum(values) / len(values)
    squares = sum((value - mean) * (value - mean) for value in values)  # unlike a power, of any size
    margin = _student_quantile(free) * sqrt(squares / free / len(values))
    return mean - margin, mean + margin


def _student_quantile(free: int) -> float:
    """The counterpart of `_Z` for Student's distribution, by Cornish and Fisher: within 1 % from three degrees on."""
    first = (_Z**3 + _Z) / 4
    second = (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / 96
    third = (3 * _Z**7 + 19 * _Z**5 + 17 * _Z**3 - 15 * _Z) / 384
    return _Z + first / free + second / free**2 + third / free**3


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """A 95 % interval of the median, whatever the distribution; None for fewer than six values, which have none."""
    place = _median_place(len(values))
    ordered = sorted(values)
    return (ordered[place], ordered[-1 - place]) if place is not None else None


@lru_cache(maxsize=256)
def _median_place(count: int) -> int | None:
    """The number of the lowest, and of the highest, values outside of the interval: by binomial chances, exactly."""
    below, term = 0, 1
    for place in range(count):
        below += term
        if 40 * below > 2**count:
            return place - 1 if place else None
        term = term * (count - place) // (place + 1)
    return None


def percentile(values: Sequence[float], percent: float) -> float | None:
    """The smallest of `values` that at least `percent` % of them do not exceed; None if there are none."""
    return sorted(values)[max(ceil(len(values) * percent / 100) - 1, 0)] if values else None


def token_count(usage: Usage | None) -> int | None:
    """Input and output tokens together; None if neither is known."""
    return known_sum([usage.input_tokens, usage.output_tokens]) if usage else None


def _speed(answers: Iterable[Result]) -> float | None:
    timed = [
        (result.usage.output_tokens, result.seconds)
        for result in answers
        if result.usage and result.usage.output_tokens is not None and result.seconds
    ]
    return sum(tokens for tokens, _ in timed) / sum(seconds for _, seconds in timed) if timed else None


def pass_at_k(right: int, asked: int, times: int) -> float:
    """An unbiased estimate of pass@k: the chance that at least one of `times` answers is right."""
    _check_sample_counts(asked, times)
    return 1 - comb(asked - right, times) / comb(asked, times)


def pass_all_k(right: int, asked: int, times: int) -> float:
    """An unbiased estimate of pass^k: the chance that all of `times` answers are right."""
    _check_sample_counts(asked, times)
    return comb(right, times) / comb(asked, times)


def _check_sample_counts(asked: int, times: int) -> None:
    if not 1 <= times <= asked:
        raise ValueError(f"cannot take {times} of {asked} answers")


_ARGUMENT = re.compile(r"calls\[\d+\]\.args")
_INDEX = re.compile(r"\[\d+\]")


class FailureGroup(NamedTuple):
    """A kind of reason, and a place in the arguments, that several failures share."""

    kind: str
    place: str
    """For all calls and items: `*.legs[*].to`; empty where the reason is not about an argument."""
    failures: tuple[Result, ...]


def shared_causes(results: Sequence[Result]) -> list[FailureGroup]:
    """The causes that at least two failures share, the most frequent first."""
    sharing: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if result.status == "failed":
            for cause in dict.fromkeys((kind, _place(path)) for kind, path in result.reasons):
                sharing.setdefault(cause, []).append(result)
    shared = [
        FailureGroup(kind, place, tuple(failures)) for (kind, place), failures in sharing.items() if len(failures) > 1
    ]
    return sorted(shared, key=lambda cause: -len(cause.failures))


class FailingGroup(NamedTuple):
    """The results that expect a tool or have a tag, more of which are wrong than of the others."""

    kind: GroupKind
    name: str
    wrong: int
    answered: int
    others_wrong: int
    others_answered: int


def failing_groups(results: Sequence[Result]) -> list[FailingGroup]:
    """The tools and tags with more failures than chance explains: the two intervals have nothing in common."""
    answered = [result for result in results if result.answered]
    wrong = sum(not result.right for result in answered)
    groups: dict[tuple[GroupKind, str], list[bool]] = {}
    for result in answered:
        for tool in dict.fromkeys(expected for expected, _ in result.called if expected):
            groups.setdefault(("tool", tool), []).append(result.right)
        for tag in result.tags:
            groups.setdefault(("tag", tag), []).append(result.right)
    found = []
    for (kind, name), right in groups.items():
        own, others = right.count(False), wrong - right.count(False)
        rest = len(answered) - len(right)
        if rest and wilson_interval(own, len(right))[0] > wilson_interval(others, rest)[1]:
            found.append(FailingGroup(kind, name, own, len(right), others, rest))
    return sorted(found, key=lambda group: -group.wrong / group.answered)


def _place(path: str) -> str:
    place, found = _ARGUMENT.subn("*", path, count=1)
    return _INDEX.sub("[*]", place) if found else ""
