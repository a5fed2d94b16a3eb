"""The evidence of answers that a model is worse than before: e-values, which are fair bets that nothing has changed.

If a case is right as often as before, it is chance which of its answers were given before and which now, as in
`tracking.significance`. A bet on so few right answers now, given how many there are in all, has the mean 1 then,
however often the case is right: nothing has to be known or estimated of it. Bets on several cases multiply.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import exp, fsum, log
from typing import Final, NamedTuple

from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.significance import RatePair, log_ways

_LARGEST: Final = 600.0
"""Logarithm of the largest evidence: what is larger says no more, and sums of it must stay numbers."""


class OddsChange(NamedTuple):
    """A change that is bet on: in a share of the cases, the odds of a right answer are multiplied."""

    odds: float
    share: float


FALLS: Final = (
    OddsChange(0.7, 1.0),
    OddsChange(0.45, 1.0),
    OddsChange(0.2, 1.0),
    OddsChange(0.03, 0.4),
    OddsChange(0.02, 0.1),
    OddsChange(0.02, 0.02),
)
"""The stake is split among these: a little that all cases lose, much that some lose, and single cases that are lost."""
RISES: Final = tuple(OddsChange(1 / odds, share) for odds, share in FALLS)


def evidence_of(pairs: Iterable[RatePair], changes: Sequence[OddsChange]) -> float:
    """The result of a stake of 1, split among bets on these changes; its mean is 1 if nothing has changed."""
    kinds = [pair for pair in pairs if 0 < pair.before.right + pair.now.right < pair.before.asked + pair.now.asked]
    return fsum(exp(min(_log_product(kinds, each), _LARGEST)) for each in changes) / len(changes)


def _log_product(pairs: Sequence[RatePair], change: OddsChange) -> float:
    if change.share == 1.0:
        return fsum(log_factor(*pair.before, *pair.now, change.odds) for pair in pairs)
    rest = 1 - change.share
    return fsum(log(rest + change.share * exp(log_factor(*pair.before, *pair.now, change.odds))) for pair in pairs)


@lru_cache(maxsize=1 << 17)
def log_factor(before_right: int, before_asked: int, right: int, asked: int, odds: float) -> float:
    """The logarithm of what a bet of 1 on these odds becomes by the answers to one case.

    It is the ratio of two probabilities of the answers now, given how many are right in all: Fisher's noncentral
    hypergeometric distribution with these odds, and the hypergeometric one.
    """
    low, chances = _log_chances(before_right + right, before_asked + asked, asked)
    step = log(odds)
    terms = [chance + each * step for each, chance in enumerate(chances, start=low)]
    top = max(terms)
    return min(right * step - top - log(fsum(exp(each - top) for each in terms)), _LARGEST)


@lru_cache(maxsize=1 << 12)
def _log_chances(all_right: int, everything: int, asked: int) -> tuple[int, tuple[float, ...]]:
    """The fewest right answers that can be among those now, and the logarithms of their probability and the next ones.

    All odds that are bet on share them.
    """
    low, high = max(0, asked - (everything - all_right)), min(asked, all_right)
    base = log_ways(everything, asked)
    return low, tuple(
        log_ways(all_right, each) + log_ways(everything - all_right, asked - each) - base
        for each in range(low, high + 1)
    )


def most_changed(pairs: Sequence[tuple[str, RatePair]], *, falls: bool) -> list[tuple[str, RatePair]]:
    """Named cases that fell, or rose, the plainest first."""
    odds = 0.1 if falls else 10.0
    found = [
        (log_factor(*pair.before, *pair.now, odds), name, pair)
        for name, pair in pairs
        if (pair.difference < 0 if falls else pair.difference > 0)
    ]
    return [(name, pair) for _, name, pair in sorted(found, key=lambda each: (-each[0], each[1]))]


def total(rates: Iterable[Rate]) -> Rate:
    """All answers together."""
    right = asked = 0
    for rate in rates:
        right, asked = right + rate.right, asked + rate.asked
    return Rate(right, asked)
