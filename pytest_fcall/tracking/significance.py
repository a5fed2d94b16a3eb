"""Whether cases are answered otherwise than before, or chance alone may explain it.

The test is a stratified permutation test. If nothing has changed, all answers to a case come from one urn: which of
them were given before and which now is chance. How often chance does at least as much as was seen is counted over all
ways to deal them, case by case, and so is exact. Asked once each time, a case says something only if its answer turned
from right to wrong or back, and the test is McNemar's exact test. Many tests are adjusted by Holm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, fsum, sqrt
from typing import NamedTuple


class Rate(NamedTuple):
    """How many of the answers to a case were right. A case that was asked once has 0 or 1 of 1."""

    right: int
    asked: int

    @property
    def share(self) -> float:
        """The part that was right."""
        return self.right / self.asked


@dataclass(frozen=True, slots=True)
class RatePair:
    """A case before and now, asked at least once each time."""

    before: Rate
    now: Rate

    @property
    def difference(self) -> float:
        """By how much the case got better, from -1 to 1."""
        return self.now.share - self.before.share


_NOTHING = 1e-18
"""Chances below this are left out: all of them together cannot be seen in a result."""

_Z = 1.959963984540054
"""Covers 95 % of a normal distribution."""


def p_value_worse(pairs: Iterable[RatePair]) -> float:
    """How likely chance alone takes away at least as many right answers: small if cases really got worse."""
    return _tails(pairs)[0]


def p_value_different(pairs: Iterable[RatePair]) -> float:
    """How likely chance alone changes as much in either direction."""
    return min(1.0, 2 * min(_tails(pairs)))


def difference_interval(pairs: Sequence[RatePair]) -> tuple[float, float]:
    """A 95 % interval of the difference in accuracy, by Bonett and Price.

    One case that got better and one that got worse are added, so that few cases or none that changed make no false
    certainty.
    """
    differences = [pair.difference for pair in pairs] + [1.0, -1.0]
    count = len(differences)
    mean = fsum(differences) / count
    margin = _Z * sqrt(max(fsum(each**2 for each in differences) / count - mean**2, 0.0) / count)
    return max(mean - margin, -1.0), min(mean + margin, 1.0)


def _tails(pairs: Iterable[RatePair]) -> tuple[float, float]:
    """The chance of at most, and of at least, as many right answers now as there are."""
    pairs = list(pairs)
    first, chances = 0, [1.0]
    for pair in pairs:
        low, dealt = _deal(pair)
        if len(dealt) > 1:
            chances = _convolve(chances, dealt)
            cut = next(place for place, chance in enumerate(chances) if chance > _NOTHING)
            end = next(place for place, chance in enumerate(reversed(chances)) if chance > _NOTHING)
            chances = chances[cut : len(chances) - end]
            first += cut
        first += low
    now = sum(pair.now.right for pair in pairs) - first
    return min(fsum(chances[: max(now + 1, 0)]), 1.0), min(fsum(chances[max(now, 0) :]), 1.0)


def _deal(pair: RatePair) -> tuple[int, list[float]]:
    """How many right answers fall to the second run, at least, and the chance of each number from there on."""
    right, asked, now = pair.before.right + pair.now.right, pair.before.asked + pair.now.asked, pair.now.asked
    low, high = max(0, now - (asked - right)), min(now, right)
    ways = comb(asked, now)
    return low, [comb(right, taken) * comb(asked - right, now - taken) / ways for taken in range(low, high + 1)]


def _convolve(chances: Sequence[float], dealt: Sequence[float]) -> list[float]:
    """The chance of each sum."""
    sums = [0.0] * (len(chances) + len(dealt) - 1)
    for shift, share in enumerate(dealt):
        for place, chance in enumerate(chances, shift):
            sums[place] += share * chance
    return sums


def adjust_by_holm(chances: Mapping[str, float]) -> dict[str, float]:
    """Adjust the p-value of each test, by Holm.

    With twenty categories, one of them looks significant by chance. Adjusted values may be compared with a level as
    if there were one test: the chance of any false alarm among all of them stays below it.
    """
    adjusted: dict[str, float] = {}
    largest = 0.0
    for place, name in enumerate(sorted(chances, key=lambda name: chances[name])):
        largest = max(largest, min(1.0, chances[name] * (len(chances) - place)))
        adjusted[name] = largest
    return {name: adjusted[name] for name in chances}
