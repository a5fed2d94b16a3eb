"""Whether a case is right about as often as before, or about as often as now: a sequential test of its answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Protocol

from pytest_fcall.core.rate import Rate
from pytest_fcall.tracking.case_rates import RATES, CaseRates, likelihoods

ERROR: Final = 0.05
"""The largest probability that a search names a wrong set of edits, for models that answer by chance."""
_PLANNED_SHARE: Final = 0.8
"""The share of the error that planned decisions may use up; the others have the rest."""
_BETWEEN: Final = 0.05
"""The probability that an edit has an effect of its own size, and leaves the case neither as before nor as now."""


class AnswerTest(Protocol):
    """Decides on which side the answers to a question stand."""

    def fails(self, found: Rate, level: float) -> bool | None:
        """Whether they are as wrong as today's; None as long as the error may be larger than `level`."""
        ...


class OneAnswer:
    """Goes by the first answer: that of a model that always says the same."""

    def fails(self, found: Rate, level: float) -> bool | None:  # noqa: ARG002  # as all tests
        """Whether the answers are wrong."""
        return None if not found.asked else 2 * found.right < found.asked


class RateTest:
    """Goes by the rates at which cases of the model are right, as `tracking.case_rates` estimates them.

    What broke a case may have left it with any rate, so that of now follows from its answers alone. A question in
    between has the rate of before or that of now, which are as likely, or seldom another one. Its answers decide once
    the probability of the other side is below the level. So the probability of an error keeps to the level
    whenever the test stops, as a probability that is updated does.
    """

    def __init__(self, rates: CaseRates, before: Rate, now: Rate) -> None:
        told = likelihoods(now)
        old, new = rates.given(before), [each / sum(told) for each in told]
        means = [sum(rate * weight for rate, weight in zip(RATES, side, strict=True)) for side in (old, new)]
        self._split = sum(means) / 2
        share = (1 - _BETWEEN) / 2
        self._weights = [
            share * one + share * other + _BETWEEN / len(RATES) for one, other in zip(old, new, strict=True)
        ]

    def fails(self, found: Rate, level: float) -> bool | None:
        """Whether the rate is nearer to that of now; None as long as that is not sure enough."""
        joint = [weight * each for weight, each in zip(self._weights, likelihoods(found), strict=True)]
        low = sum(each for rate, each in zip(RATES, joint, strict=True) if rate < self._split)
        share = low / sum(joint)
        if share >= 1 - level:
            return True
        return False if share <= level else None


def fewest_answers(test: AnswerTest, level: float, most: int) -> int:
    """The number of equal answers that decide, at most so many."""
    for asked in range(1, most):
        if test.fails(Rate(0, asked), level) and test.fails(Rate(asked, asked), level) is False:
            return asked
    return most


@dataclass(slots=True)
class ErrorBudget:
    """Deals out the probability of an error to the decisions of a search, so that all together keep to `ERROR`."""

    planned: int
    """Number of decisions that are expected."""
    _made: int = field(default=0, init=False)

    def next(self) -> float:
        """The level of the next decision. Those beyond the planned ones get ever smaller parts."""
        self._made += 1
        beyond = self._made - self.planned
        if beyond <= 0:
            return self.usual
        return (1 - _PLANNED_SHARE) * ERROR / (beyond * (beyond + 1))

    @property
    def usual(self) -> float:
        """The level of a planned decision."""
        return _PLANNED_SHARE * ERROR / max(self.planned, 1)
