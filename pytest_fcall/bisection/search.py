"""The search for the smallest set of edits that makes a case fail. It yields trials, and is told what came of each.

The edits are put in a row, as if they had been made one after the other, and halving finds the first at which the
case fails, as `git bisect` does. That edit is kept, those behind it are dropped, and if it does not
make the case fail alone, the others are put in a row again. So one guilty edit of n takes about log2(n) trials, and k
that fail together take k times as many. Each set that is found was tried itself, and so was each of its parts: nothing
rests on the assumption that further edits never mend a case. Where a model answers by chance, a sequential test says
when the answers in a trial are enough, so that the whole search seldom names a wrong set.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias, TypeVar

from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.case_rates import RATES, CaseRates, likelihoods

Trial: TypeAlias = frozenset[int]
"""The old question with these edits."""
Fails: TypeAlias = bool | None
"""Whether a case fails in a trial; None where that could not be found out."""
_T = TypeVar("_T")
Search: TypeAlias = Generator[Trial, Fails, _T]
ERROR: Final = 0.05
"""The largest probability that a search names a wrong set of edits, for models that answer by chance."""
_PLANNED_SHARE: Final = 0.8
"""The share of the error that planned decisions may use up; the others have the rest."""
_BETWEEN: Final = 0.05
"""The probability that an edit has an effect of its own size, and leaves the case neither as before nor as now."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A set of edits that makes the case fail."""

    members: tuple[Trial, ...]
    """Each a single edit, or several that could not be told apart."""
    is_minimal: bool = True
    """Whether it is known that the case passes without any of the members."""

    @property
    def edits(self) -> Trial:
        """All edits in it."""
        return _union(self.members)

    @property
    def is_exact(self) -> bool:
        """Whether each member is a single edit, and none of them can be left out."""
        return self.is_minimal and all(len(each) == 1 for each in self.members)


@dataclass(slots=True)
class Causes:
    """The causes that a search has found so far."""

    found: list[Cause] = field(default_factory=list)
    rest_passes: Fails = None
    """Whether the case passes with all edits but those found; None where that is not known."""


def find_causes(
    edits: Trial, causes: Causes, known: Mapping[Trial, Fails], likely: Iterable[Trial] = ()
) -> Search[Causes]:
    """Find sets of edits that make the case fail, until it passes with all others.

    The case passes without edits and fails with all. `known` holds what is known of further trials, and grows
    meanwhile; `likely` are sets that explain other cases. What is found stands in `causes` at once.
    """
    rest = edits
    for guess in dict.fromkeys(each & edits for each in likely):
        if guess and guess < rest and (yield guess):
            rest = yield from _add(causes, (yield from _find_cause(guess, frozenset())), rest)
            if causes.rest_passes is not False:
                return causes
    while causes.rest_passes is False or not causes.found:
        failing = _smallest(rest, (trial for trial, fails in known.items() if fails))
        passing = _largest(failing, (trial for trial, fails in known.items() if fails is False))
        rest = yield from _add(causes, (yield from _find_cause(failing, passing)), rest)
    return causes


def _add(causes: Causes, cause: Cause, rest: Trial) -> Search[Trial]:
    """Note a cause, and find out whether the case passes with the rest."""
    causes.found.append(cause)
    rest -= cause.edits
    fails = (yield rest) if rest else False
    causes.rest_passes = None if fails is None else not fails
    return rest


def _smallest(within: Trial, trials: Iterable[Trial]) -> Trial:
    return min((within, *(trial for trial in trials if trial < within)), key=len)


def _largest(within: Trial, trials: Iterable[Trial]) -> Trial:
    return max((frozenset[int](), *(trial for trial in trials if trial < within)), key=len)


def _find_cause(failing: Trial, passing: Trial) -> Search[Cause]:
    """Find a smallest set among edits with which the case fails; with some of them, `passing`, it passes."""
    row = [*sorted(passing), *sorted(failing - passing)]
    low, high = len(passing), len(row)
    kept: list[Trial] = []
    while True:
        low, high = yield from _boundary(_union(kept), row, low, high)
        kept.insert(0, frozenset(row[low:high]))
        row, high, low = row[:low], low, 0
        if not row or (yield _union(kept)):
            return (yield from _minimal(kept))


def _boundary(kept: Trial, row: Sequence[int], low: int, high: int) -> Search[tuple[int, int]]:
    """Halve the row until one edit is left between what passes and what fails, or nothing more can be found out."""
    unclear: set[int] = set()
    while places := [place for place in range(low + 1, high) if place not in unclear]:
        middle = min(places, key=lambda place: abs(2 * place - low - high))
        match (yield kept.union(row[:middle])):
            case None:
                unclear.add(middle)
            case True:
                high = middle
            case False:
                low = middle
    return low, high


def _minimal(members: Sequence[Trial]) -> Search[Cause]:
    """Leave out what can be left out of a set that fails."""
    is_minimal = True
    for member in members if len(members) > 1 else ():
        rest = [each for each in members if each != member]
        fails = yield _union(rest)
        if fails:
            return (yield from _minimal(rest))
        is_minimal &= fails is not None
    return Cause(tuple(members), is_minimal)


def _union(sets: Collection[Trial]) -> Trial:
    return frozenset[int]().union(*sets)


def fewest_trials(edits: int) -> int:
    """The trials that a search takes if one edit is guilty: halving, the edit alone, and all others."""
    return (edits - 1).bit_length() + (2 if edits > 1 else 0)


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
        chances = likelihoods(now)
        old, new = rates.given(before), [each / sum(chances) for each in chances]
        means = [sum(rate * weight for rate, weight in zip(RATES, side, strict=True)) for side in (old, new)]
        self._below = bisect_left(RATES, sum(means) / 2)
        """The number of rates that are nearer to that of now."""
        share = (1 - _BETWEEN) / 2
        self._weights = [
            share * one + share * other + _BETWEEN / len(RATES) for one, other in zip(old, new, strict=True)
        ]

    def fails(self, found: Rate, level: float) -> bool | None:
        """Whether the rate is nearer to that of now; None as long as that is not sure enough."""
        joint = [weight * each for weight, each in zip(self._weights, likelihoods(found), strict=True)]
        share = sum(joint[: self._below]) / sum(joint)
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
