"""Slices of a run, such as its models: whether one of them got worse, and how small a drop the tests of them show."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import log, prod, sqrt
from statistics import NormalDist
from sys import float_info
from typing import Final, Literal, TypeAlias

from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.significance import RatePair, adjust_by_holm, p_value_worse

_MOSTLY: Final = 0.5
"""The share of right answers from which on a case can be lost."""
SliceKind: TypeAlias = Literal["model", "category", "tag", "file"]


@dataclass(frozen=True, slots=True)
class Slice:
    """Cases of one model that are tested together."""

    name: str
    pairs: tuple[RatePair, ...] = ()
    """The rates before and now of those that were measured before as they are today."""
    missing: int = 0
    """The number of its cases without a reply."""

    @property
    def before(self) -> float:
        """The share of right answers before."""
        return sum(pair.before.share for pair in self.pairs) / len(self.pairs)

    @property
    def now(self) -> float:
        """The share of right answers now."""
        return sum(pair.now.share for pair in self.pairs) / len(self.pairs)


@dataclass(frozen=True)
class SliceTests:
    """One significance test for each slice; the p-values are adjusted for their number by Holm's method."""

    level: float
    slices: Sequence[Slice] = ()

    @property
    def p_value(self) -> float | None:
        """The smallest adjusted p-value; None where nothing was tested."""
        adjusted = _adjusted(self._p_values)
        return min((p for p, each in zip(adjusted, self.slices, strict=True) if each.pairs), default=None)

    @cached_property
    def worse(self) -> tuple[tuple[Slice, float], ...]:
        """The slices that got worse whatever the missing replies are, with their p-values, smallest first."""
        most = [1.0 if each.missing else p for each, p in zip(self.slices, self._p_values, strict=True)]
        found = [(each, p) for each, p in zip(self.slices, _adjusted(most), strict=True) if p <= self.level]
        return tuple(sorted(found, key=lambda pair: pair[1]))

    @property
    def could_fail(self) -> bool:
        """Whether a slice could have failed: that is likeliest where all answers are wrong."""
        chances = (prod(p_value_worse([_lost(pair)]) for pair in each.pairs) for each in self.slices)
        return any(chance <= self._level_of_one for chance in chances)

    @cached_property
    def visible_drops(self) -> tuple[tuple[Slice, float | None], ...]:
        """The slices with the smallest drop that would make each fail alone, largest first; None where none does."""
        found = [(each, visible_drop(each.pairs, self._level_of_one)) for each in self.slices if each.pairs]
        return tuple(sorted(found, key=lambda pair: -2.0 if pair[1] is None else -pair[1]))

    @cached_property
    def _p_values(self) -> Sequence[float]:
        """The p-value of each slice, not adjusted."""
        return [p_value_worse(each.pairs) for each in self.slices]

    @property
    def _level_of_one(self) -> float:
        """The largest p-value at which a slice fails though no other does."""
        return self.level / max(len(self.slices), 1)


def _adjusted(p_values: Sequence[float]) -> Sequence[float]:
    return [*adjust_by_holm(dict(enumerate(p_values))).values()]


def visible_drop(pairs: Sequence[RatePair], level: float) -> float | None:
    """The drop in accuracy from which on the loss of more cases gives a p-value up to the level; None where none does.

    All answers to a lost case are wrong; those to all others are as they are, whichever way they changed. Those cases
    are lost first that tell the least for what they cost, so that other cases that cost as much are seen, too.
    """
    right = [place for place, pair in enumerate(pairs) if pair.now.right and pair.before.share >= _MOSTLY]
    order = sorted(right, key=lambda place: _telling(pairs[place]))

    def with_lost(count: int) -> list[RatePair]:
        lost = set(order[:count])
        return [_lost(pair) if place in lost else pair for place, pair in enumerate(pairs)]

    @cache
    def fails(count: int) -> bool:
        return p_value_worse(with_lost(count)) <= level

    count = _least(fails, len(order), _estimated_loss(pairs, [pairs[place] for place in order], level))
    return None if count is None else -sum(pair.difference for pair in with_lost(count)) / len(pairs)


def _least(fails: Callable[[int], bool], most: int, near: int) -> int | None:
    """The smallest number up to `most` that fails, searched from `near` on; all larger ones fail, too."""
    low, high, step = near, near, 1
    while low > 0 and fails(low):
        low, high, step = max(low - step, 0), low, 2 * step
    while high < most and not fails(high):
        low, high, step = high, min(high + step, most), 2 * step
    return bisect_left(range(high), True, lo=low, key=fails) if fails(high) else None


def _estimated_loss(pairs: Sequence[RatePair], order: Sequence[RatePair], level: float) -> int:
    """About the number of cases that must be lost, in this order, as a normal distribution says."""
    far = NormalDist().inv_cdf(level)
    excess, variance = (sum(each) for each in zip(*map(_moments, pairs), strict=True)) if pairs else (0.0, 0.0)
    for count, pair in enumerate(order):
        if variance and excess + 0.5 <= far * sqrt(variance):
            return count
        (old_excess, old_variance), (new_excess, new_variance) = _moments(pair), _moments(_lost(pair))
        excess, variance = excess - old_excess + new_excess, variance - old_variance + new_variance
    return len(order)


def _moments(pair: RatePair) -> tuple[float, float]:
    """The number of right answers beyond the expected ones, and its variance if nothing has changed."""
    right, asked, now = pair.before.right + pair.now.right, pair.before.asked + pair.now.asked, pair.now.asked
    share = right / asked
    variance = now * share * (1 - share) * (asked - now) / (asked - 1)
    return pair.now.right - now * share, variance


def _lost(pair: RatePair) -> RatePair:
    return RatePair(pair.before, Rate(0, pair.now.asked))


def _telling(pair: RatePair) -> float:
    """The weight of a lost case, for each point that it costs."""
    p_value = p_value_worse([_lost(pair)])  # of very many answers it is 0
    return -log(p_value or float_info.min) / pair.now.share
