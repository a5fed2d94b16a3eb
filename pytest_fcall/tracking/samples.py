"""Several answers to one case: when there are enough of them, and whether fewer are right than before.

The first is decided by Wald's sequential test.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf, log

from pytest_fcall.core.rate import Rate
from pytest_fcall.tracking.significance import SIGNIFICANCE_LEVEL, RatePair, p_value_worse


@dataclass(frozen=True, slots=True)
class PassRule:
    """Decides from the answers so far whether a case passes, as soon as they allow it.

    A case whose true rate is at most `low` passes with a probability of about `error`; one whose true rate is at least
    `high` fails with no greater probability. In between both are possible. After `max_answers`, the share of right
    answers decides.
    """

    required_share: float
    """The share of right answers with which a case passes."""
    low: float
    high: float
    error: float = 0.05
    max_answers: int = 100

    @classmethod
    def parse(cls, rule: str, *, margin: float = 0.1, error: float = 0.05, max_answers: int = 100) -> PassRule:
        """Read the rule of a case: `all`, `any` or `rate>=0.8`. Raises ValueError."""
        if rule == "all":
            return cls(1.0, 1 - 2 * margin, 1.0, error, max_answers)
        if rule == "any":
            return cls(0.0, 0.0, 2 * margin, error, max_answers)
        found = re.fullmatch(r"rate>=(0(\.[0-9]+)?|1(\.0+)?)", rule)
        share = float(found[1]) if found else 0.0
        if share == 0:
            raise ValueError(f"must be all, any or rate>=0.8, not {rule!r}")
        if share == 1:
            return cls.parse("all", margin=margin, error=error, max_answers=max_answers)
        return cls(share, share - min(margin, share / 2), share + min(margin, (1 - share) / 2), error, max_answers)

    def decide(self, rate: Rate) -> bool | None:
        """Whether the case passes; None while that is open."""
        evidence = _times(rate.right, _log_ratio(self.high, self.low))
        evidence += _times(rate.asked - rate.right, _log_ratio(1 - self.high, 1 - self.low))
        enough = log((1 - self.error) / self.error)
        if evidence >= enough:
            return True
        if evidence <= -enough:
            return False
        return None if rate.asked < self.max_answers else self.suffices(rate)

    def suffices(self, rate: Rate) -> bool:
        """Whether these answers pass a case that is not asked again."""
        return rate.right > 0 and rate.share >= self.required_share

    def next_count(self, rate: Rate) -> int:
        """The number of answers to ask for next.

        It is the smallest number that can decide, or as many as there are already, but never more than can be needed.
        Asking for one answer at a time would take too long.
        """
        to_pass, to_fail = self._answers_until_decided(rate, right=1), self._answers_until_decided(rate, right=0)
        return max(min(to_pass, to_fail), min(rate.asked, max(to_pass, to_fail)))

    def _answers_until_decided(self, rate: Rate, right: int) -> int:
        """The number of further answers, all right or all wrong, after which the case is decided."""
        more = 1
        while self.decide(Rate(rate.right + right * more, rate.asked + more)) is None:
            more += 1
        return more


def _log_ratio(above: float, below: float) -> float:
    """The weight of an answer as evidence for the higher rate."""
    if above == 0:
        return -inf
    return log(above / below) if below else inf


def _times(count: int, weight: float) -> float:
    return count * weight if count else 0.0


def is_worse(before: Rate, now: Rate) -> bool:
    """Whether the rate fell significantly, as from 4 of 5 right answers to 0 of 5."""
    return p_value_worse([RatePair(before, now)]) <= SIGNIFICANCE_LEVEL


def is_confirmed(before: Rate | None, now: Rate) -> bool:
    """Whether a case that was right before is wrong now, after it was asked again.

    Without a rate before, as after a single answer, most answers must be wrong.
    """
    return 2 * now.right <= now.asked if before is None else is_worse(before, now)
