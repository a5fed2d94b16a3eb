"""Several answers to one case: when there are enough of them (Wald's sequential test), and whether fewer are right
than before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf, log

from pytest_fcall.tracking.significance import Rate, RatePair, p_value_worse
from pytest_fcall.tracking.stanza import Stanza


@dataclass(frozen=True, slots=True)
class PassRule:
    """Tells from the answers so far whether a case passes, as soon as they allow it.

    A case whose true rate is `low` or less passes with a chance of about `error` at most; one whose true rate is `high`
    or more fails with no greater chance. In between it may go either way. After `most` answers the share of right ones
    decides.
    """

    least: float
    """The share of right answers with which a case passes."""
    low: float
    high: float
    error: float = 0.05
    most: int = 100

    @classmethod
    def by_rule(cls, rule: str, *, margin: float = 0.1, error: float = 0.05, most: int = 100) -> PassRule:
        """Take the rule of a case: `all`, `any` or `rate>=0.8`. Anything else is a ValueError."""
        if rule == "all":
            return cls(1.0, 1 - 2 * margin, 1.0, error, most)
        if rule == "any":
            return cls(0.0, 0.0, 2 * margin, error, most)
        found = re.fullmatch(r"rate>=(0(\.[0-9]+)?|1(\.0+)?)", rule)
        least = float(found[1]) if found else 0.0
        if least == 0:
            raise ValueError(f"{rule!r} is none of all, any and rate>=0.8")
        if least == 1:
            return cls.by_rule("all", margin=margin, error=error, most=most)
        return cls(least, least - min(margin, least / 2), least + min(margin, (1 - least) / 2), error, most)

    def passes(self, rate: Rate) -> bool | None:
        """Whether the case passes; None while that is open."""
        evidence = _times(rate.right, _log_ratio(self.high, self.low))
        evidence += _times(rate.asked - rate.right, _log_ratio(1 - self.high, 1 - self.low))
        enough = log((1 - self.error) / self.error)
        if evidence >= enough:
            return True
        if evidence <= -enough:
            return False
        return None if rate.asked < self.most else self.suffices(rate)

    def suffices(self, rate: Rate) -> bool:
        """Whether these answers pass a case that is asked no more."""
        return rate.right > 0 and rate.share >= self.least

    def portion(self, rate: Rate) -> int:
        """How many answers to ask for next: those without which nothing can be decided, and as many again as there are.

        More than could be needed are never asked for. Asked for one by one, a case would take too long.
        """
        to_pass, to_fail = self._until(rate, right=1), self._until(rate, right=0)
        return max(min(to_pass, to_fail), min(rate.asked, max(to_pass, to_fail)))

    def _until(self, rate: Rate, right: int) -> int:
        """After how many more answers, all of them right or all wrong, the case is decided."""
        more = 1
        while self.passes(Rate(rate.right + right * more, rate.asked + more)) is None:
            more += 1
        return more


def _log_ratio(above: float, below: float) -> float:
    """How much an answer speaks for the higher rate."""
    if above == 0:
        return -inf
    return log(above / below) if below else inf


def _times(count: int, weight: float) -> float:
    return count * weight if count else 0.0


SIGNIFICANCE_LEVEL = 0.05
"""What chance alone does less often is taken for a change."""


def rate_of_stanza(stanza: Stanza) -> Rate:
    """How many answers were right."""
    return Rate(*stanza.samples) if stanza.samples else Rate(int(stanza.valid), 1)


def is_worse(before: Rate, now: Rate) -> bool:
    """Whether chance alone would hardly do that: 4 of 5 right answers before, and none of 5 now."""
    return p_value_worse([RatePair(before, now)]) <= SIGNIFICANCE_LEVEL


def is_confirmed(before: Stanza, now: Rate) -> bool:
    """Whether a case that was right before is wrong now, after it was asked again.

    Rates are compared, where there was one. A single answer before is no rate: then most answers decide.
    """
    return is_worse(rate_of_stanza(before), now) if before.samples else 2 * now.right <= now.asked
