"""Tests whether cases are answered differently than before, or whether chance alone can explain the difference.

The test is a stratified permutation test. If nothing has changed, it is chance which of the answers to a case were
given before and which now. The probability of a change at least as large as the observed one is computed exactly, over
all ways to deal the answers, case by case. If each case was asked once, only cases whose answer changed count, and the
test is McNemar's exact test. Several tests are adjusted by Holm's method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, fsum, lgamma, sqrt
from typing import TypeVar

from pytest_fcall.core.verdict import Rate

Name = TypeVar("Name")

SIGNIFICANCE_LEVEL = 0.05
"""A p-value up to this level counts as a change."""
_NOTHING = 1e-18
"""Smaller probabilities are dropped: all of them together do not change a result visibly."""
_Z = 1.959963984540054
"""Covers 95 % of a normal distribution."""


@dataclass(frozen=True, slots=True)
class RatePair:
    """The rates of a case before and now; each has at least one answer."""

    before: Rate
    now: Rate

    @property
    def difference(self) -> float:
        """The improvement of the case, from -1 to 1."""
        return self.now.share - self.before.share


def weigh_alike(_: RatePair) -> int:
    """The weight of an answer where all cases count alike."""
    return 1


def weigh_by_steadiness(pair: RatePair) -> int:
    """The weight of an answer where a little is lost by many cases.

    The only wrong answer of a case says more than one of several: that of a case which varies anyway is mostly noise.
    Weights follow from all answers to a case, whenever they were given, so that the test stays exact.
    """
    return 4 if pair.before.asked + pair.now.asked - pair.before.right - pair.now.right == 1 else 1


def p_value_worse(pairs: Iterable[RatePair], weight: Callable[[RatePair], int] = weigh_alike) -> float:
    """The probability that chance alone removes right answers of at least this weight; small if cases got worse."""
    return min(1.0, _tails(pairs, weight)[0])


def p_value_different(pairs: Iterable[RatePair]) -> float:
    """The probability that chance alone changes at least as much, in either direction."""
    return min(1.0, 2 * min(_tails(pairs, weigh_alike)))


def log_ways(asked: int, right: int) -> float:
    """The logarithm of the number of ways in which so many of the answers can be right."""
    return lgamma(asked + 1) - lgamma(right + 1) - lgamma(asked - right + 1)


def difference_interval(pairs: Sequence[RatePair]) -> tuple[float, float]:
    """The 95 % confidence interval of the difference in accuracy, by Bonett and Price.

    The method adds one case that got better and one that got worse, so that few changes do not look certain.
    """
    differences = [pair.difference for pair in pairs] + [1.0, -1.0]
    count = len(differences)
    mean = fsum(differences) / count
    margin = _Z * sqrt(max(fsum(each**2 for each in differences) / count - mean**2, 0.0) / count)
    return max(mean - margin, -1.0), min(mean + margin, 1.0)


def _tails(pairs: Iterable[RatePair], weight: Callable[[RatePair], int]) -> tuple[float, float]:
    """The probabilities of at most, and of at least, the observed weight of right answers now."""
    pairs = list(pairs)
    first, observed, chances = 0, 0, [1.0]
    for pair in pairs:
        low, dealt = _deal(pair)
        each = weight(pair)
        if len(dealt) > 1:
            chances = _convolve(chances, dealt, each)
            cut = next(place for place, chance in enumerate(chances) if chance > _NOTHING)
            end = next(place for place, chance in enumerate(reversed(chances)) if chance > _NOTHING)
            chances = chances[cut : len(chances) - end]
            first += cut
        first += each * low
        observed += each * pair.now.right
    now = observed - first
    return fsum(chances[: max(now + 1, 0)]), fsum(chances[max(now, 0) :])


@lru_cache(maxsize=4096)
def _deal(pair: RatePair) -> tuple[int, Sequence[float]]:
    """The smallest possible number of right answers in the second run, and the probability of each from there on."""
    right, asked, now = pair.before.right + pair.now.right, pair.before.asked + pair.now.asked, pair.now.asked
    low, high = max(0, now - (asked - right)), min(now, right)
    ways = comb(asked, now)
    return low, [comb(right, taken) * comb(asked - right, now - taken) / ways for taken in range(low, high + 1)]


def _convolve(chances: Sequence[float], dealt: Sequence[float], weight: int) -> list[float]:
    """The probability of each sum."""
    sums = [0.0] * (len(chances) + weight * (len(dealt) - 1))
    for number, share in enumerate(dealt):
        for place, chance in enumerate(chances, weight * number):
            sums[place] += share * chance
    return sums


def adjust_by_holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Adjust the p-value of each test by Holm's method.

    Of twenty categories, one looks significant by chance. Adjusted values can be compared with a level as if there
    were one test: the probability of any false alarm stays below it.
    """
    adjusted: dict[Name, float] = {}
    largest = 0.0
    for place, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        largest = max(largest, min(1.0, p_values[name] * (len(p_values) - place)))
        adjusted[name] = largest
    return {name: adjusted[name] for name in p_values}
