"""The rates at which a model answers cases rightly, estimated from what was measured, and what follows for one case.

Cases differ: most are always right, a few are right now and wrong then, some never are. How many of each kind a model
has shows in repeated answers. So a case that was answered once is judged by what is usual for its model: three wrong
answers after a right one mean little where many cases vary, and much where hardly any does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import exp, log, log1p
from typing import Final

from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.significance import log_ways

RATES: Final = (0.0001, 0.001, 0.02, *(step / 20 for step in range(1, 20)), 0.98, 0.995, 0.9995)
"""The rates that a case may have. None is 0 or 1: nothing that was never seen is impossible.

The smallest bounds what can be decided: that a case which is never right was right once, by chance, must be rarer than
the level at which one of thousand cases regressed, or no number of wrong answers would do."""
_LOGARITHMS: Final = tuple((log(rate), log1p(-rate)) for rate in RATES)
"""Of the probabilities of a right and of a wrong answer, at each rate."""
_USUAL_WEIGHT: Final = 40
"""Number of answered cases that weigh as much as what is usual."""
_ROUNDS: Final = 60
"""Number of rounds of estimation; more do not change the result visibly."""


def _usual_shares() -> list[float]:
    """The shares of the rates before anything is measured: most cases are always right, and few are mostly wrong."""
    varying = [rate for rate in RATES if 0.5 <= rate < 0.999]
    mostly_wrong = [rate for rate in RATES if 0.01 < rate < 0.5]
    shares = {0.0001: 0.027, 0.001: 0.003, RATES[-1]: 0.6}
    shares |= dict.fromkeys(varying, 0.3695 / len(varying)) | dict.fromkeys(mostly_wrong, 0.0005 / len(mostly_wrong))
    return [shares[rate] for rate in RATES]


class CaseRates:
    """The share of a model's cases that has each rate of right answers."""

    def __init__(self, shares: Sequence[float]) -> None:
        self._shares = shares
        self._chances: dict[tuple[Rate, Rate], float] = {}

    @classmethod
    def estimated(cls, measured: Iterable[Rate]) -> CaseRates:
        """Estimate the shares that explain best what was measured, by expectation maximisation."""
        cases = Counter(measured)
        explained = {rate: likelihoods(rate) for rate in cases}
        usual = _usual_shares()
        total = sum(cases.values()) + _USUAL_WEIGHT
        shares = usual
        for _ in range(_ROUNDS if cases else 0):
            weights = [_USUAL_WEIGHT * share for share in usual]
            for rate, count in cases.items():
                joint = [share * likelihood for share, likelihood in zip(shares, explained[rate], strict=True)]
                scale = count / sum(joint)
                weights = [weight + scale * each for weight, each in zip(weights, joint, strict=True)]
            shares = [weight / total for weight in weights]
        return cls(shares)

    def chance(self, before: Rate, now: Rate) -> float:
        """The probability that a case with these answers before gives at most as many right ones now, unchanged."""
        if now.right == now.asked:
            return 1.0
        if (before, now) not in self._chances:
            self._chances[before, now] = self._chance(before, now)
        return self._chances[before, now]

    def given(self, before: Rate) -> Sequence[float]:
        """The probability of each of the rates, for a case with these answers."""
        weights = self._weights(before)
        total = sum(weights)
        return [weight / total for weight in weights]

    def _weights(self, before: Rate) -> list[float]:
        return [share * each for share, each in zip(self._shares, likelihoods(before), strict=True)]

    def _chance(self, before: Rate, now: Rate) -> float:
        weights = self._weights(before)
        tails = _chances_of_at_most(now)
        joint = sum(weight * tail for weight, tail in zip(weights, tails, strict=True))
        return min(joint / sum(weights), 1.0)


@lru_cache(maxsize=1 << 12)
def likelihoods(found: Rate) -> tuple[float, ...]:
    """The probability of these answers at each rate, as shares of the largest: of many answers all are tiny."""
    right, wrong = found.right, found.asked - found.right
    logs = [right * for_right + wrong * for_wrong for for_right, for_wrong in _LOGARITHMS]
    largest = max(logs)
    return tuple([exp(each - largest) for each in logs])


def _chances_of_at_most(found: Rate) -> list[float]:
    """The probability of at most as many right answers, of a case with each of the rates."""
    asked = found.asked
    ways = [log_ways(asked, right) for right in range(found.right + 1)]
    return [
        sum([exp(each + right * for_right + (asked - right) * for_wrong) for right, each in enumerate(ways)])
        for for_right, for_wrong in _LOGARITHMS
    ]
