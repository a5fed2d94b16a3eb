"""The power of runs to see that a model got worse: models with such cases are simulated, and judged as runs judge them.

Each case has an unknown rate of right answers of its own. Its answers, and those of the other cases, give a
distribution of rates (`tracking.case_rates`), from which each simulated model draws its rates. So both count: that a
case is right now and wrong then, and that little is known of it. The answers before stay as they are.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import comb, erfc, exp, pi, sqrt
from operator import mul
from random import Random
from typing import Final, Literal, NamedTuple, TypeAlias

from pytest_fcall.core.verdict import Outcome, Rate
from pytest_fcall.session.judge.doubt import FALSE_ALARMS, LEAST_BUDGET
from pytest_fcall.session.result.model_change import worse_level
from pytest_fcall.session.settings import Confirm
from pytest_fcall.tracking.case_rates import RATES, CaseRates
from pytest_fcall.tracking.comparison import ChanceTest
from pytest_fcall.tracking.significance import RatePair, p_value_worse, weigh_alike, weigh_by_steadiness

Loss: TypeAlias = Literal["each", "some"]
"""A drop that all cases share, or one that some cases make up which are lost for good."""
Worsen: TypeAlias = Callable[[Sequence[float], Random], Sequence[float]]
Weight: TypeAlias = Callable[[RatePair], int]

_VARIES: Final = (0.01, 0.99)
"""A case whose rate is between these is right now and wrong then."""
_MOST_EXACT: Final = 60
"""Answers now, of cases with right and wrong ones, up to which p-values are exact. For more, a normal distribution is
close enough."""
_CLOSE: Final = 3
"""The factor from a level within which a p-value has to be exact."""
_TINY: Final = 1e-6
"""Smaller p-values may be rounded to nothing by the correction, and have to be exact."""
_PORTION: Final = 25
"""After so many runs each it is looked at whether the power is plainly too small, or large enough."""
_PLAINLY: Final = 3.5
"""In standard deviations."""


class KnownCase(NamedTuple):
    """The answers to a case that are known."""

    first: Rate
    """The first answers before, which the tests of all cases together use."""
    before: Rate
    """All answers before."""


@dataclass(frozen=True, slots=True)
class Design:
    """A suite, and how often each case is asked in a run."""

    cases: tuple[KnownCase, ...]
    samples: int = 1
    level: float | None = None
    """The level of a gate `significant`; None without one."""
    kept: int | None = None
    """Runs of this very suite that are kept before; None where the answers before are those that are known."""


class _Draws:
    """Draws numbers of right answers. The chances of each number are worked out once."""

    def __init__(self) -> None:
        self._chances: dict[tuple[float, int], Sequence[float]] = {}

    def right(self, rate: float, asked: int, random: Random) -> int:
        """The number of right answers among so many."""
        if asked == 1:
            return int(random.random() < rate)
        if (rate, asked) not in self._chances:
            ways = (comb(asked, right) * rate**right * (1 - rate) ** (asked - right) for right in range(asked))
            self._chances[rate, asked] = [*accumulate(ways)]
        return bisect(self._chances[rate, asked], random.random())


class Detection:
    """Simulated runs of models whose cases are like those of a suite. The same seed draws the same models."""

    def __init__(self, known: Sequence[KnownCase], seed: int = 1) -> None:
        self.rates = CaseRates.estimated(each.before for each in known)
        self._seed = seed
        self._drawn: dict[Rate, Sequence[float]] = {}
        self._draws = _Draws()

    def accuracy(self, cases: Sequence[KnownCase]) -> float:
        """The mean share of right answers, as far as it is known."""
        return sum(sum(map(mul, RATES, self._chances_of(each.before))) for each in cases) / len(cases)

    def varying(self, cases: Sequence[KnownCase]) -> float:
        """The estimated share of cases that answer neither always rightly nor always wrongly."""
        return sum(
            weight
            for each in cases
            for rate, weight in zip(RATES, self._chances_of(each.before), strict=True)
            if _VARIES[0] < rate < _VARIES[1]
        ) / len(cases)

    def power(self, design: Design, loss: Loss, drop: float, runs: int) -> float:
        """The share of runs that see a drop in accuracy by any test; against 0, the share of false alarms."""
        return self._seen(design, runs, self._loss(design, loss, drop))

    def reaches(self, design: Design, loss: Loss, drop: float, runs: int, power: float) -> bool:
        """Whether that share is at least `power`. Where fewer runs show it plainly, they will do."""
        return self._seen(design, runs, self._loss(design, loss, drop), power) >= power

    def power_for_lost(self, design: Design, count: int, runs: int) -> float:
        """The share of runs that see the loss of so many cases that were right more often than not."""
        return self._seen(design, runs, lambda rates, random: _without(rates, count, random))

    def _loss(self, design: Design, loss: Loss, drop: float) -> Worsen:
        if loss == "some":
            return lambda rates, random: _some_for_good(rates, drop, random)
        # The same share of each rate in all models: what is worked out for a rate then serves them all.
        kept = max(1 - drop / max(self.accuracy(design.cases), drop), 0.0) if drop else 1.0
        return lambda rates, _: [rate * kept for rate in rates]

    def _seen(
        self,
        design: Design,
        runs: int,
        worsen: Worsen,
        wanted: float | None = None,
    ) -> float:
        most = design.samples + Confirm().most
        test = ChanceTest(self.rates, FALSE_ALARMS / len(design.cases), most, Outcome.UNDECIDED)
        chances = [[*accumulate(self._chances_of(each.before))] for each in design.cases]
        seen = done = 0
        while done < runs and not (wanted and _is_plain(seen, done, wanted)):
            random = Random(f"{self._seed}.{done}")  # noqa: S311  # nothing is secret here
            rates = [RATES[min(bisect(each, random.random()), len(RATES) - 1)] for each in chances]
            known = self._before(design, rates, random)
            seen += self._is_seen(design, known, worsen(rates, random), test, random)
            done += 1
        return seen / done

    def _before(self, design: Design, rates: Sequence[float], random: Random) -> Sequence[KnownCase]:
        if design.kept is None:
            return design.cases
        asked = design.kept * design.samples
        found = [Rate(self._draws.right(rate, asked, random), asked) for rate in rates]
        return [KnownCase(each, each) for each in found]

    def _is_seen(
        self, design: Design, known: Sequence[KnownCase], rates: Sequence[float], test: ChanceTest, random: Random
    ) -> bool:
        pairs, wrong = [], []
        for case, rate in zip(known, rates, strict=True):
            answers = Rate(self._draws.right(rate, design.samples, random), design.samples)
            pairs.append(RatePair(case.first, answers))
            if answers.right < answers.asked:
                wrong.append((case.before, answers, rate))
        budget = max((Confirm().budget or 0) * len(rates), LEAST_BUDGET)
        return (
            self._any_regressed(wrong, test, budget, random)
            or _is_worse(pairs, worse_level(pairs), weigh_by_steadiness)
            or (design.level is not None and _is_worse(pairs, design.level, weigh_alike))
        )

    def _any_regressed(
        self, wrong: Sequence[tuple[Rate, Rate, float]], test: ChanceTest, budget: float, random: Random
    ) -> bool:
        """Whether one of these cases regresses, which are asked again as in a run."""
        for before, answers, rate in wrong:
            portion, now = 1, answers
            while before.right:
                outcome, _, is_open = test.compare(before, now, now.asked)
                if outcome is Outcome.REGRESSED:
                    return True
                more = int(min(portion, test.most - now.asked, budget))
                if not is_open or more < 1:
                    break
                now = now.plus(Rate(self._draws.right(rate, more, random), more))
                budget, portion = budget - more, 2 * portion
        return False

    def _chances_of(self, before: Rate) -> Sequence[float]:
        if before not in self._drawn:
            self._drawn[before] = self.rates.given(before)
        return self._drawn[before]


def _is_plain(seen: int, done: int, wanted: float) -> bool:
    """Whether so many of these runs leave no doubt on which side of the wanted share the true one is."""
    spread = sqrt(wanted * (1 - wanted) * done)
    return done >= _PORTION and done % _PORTION == 0 and abs(seen - wanted * done) > _PLAINLY * spread


def _is_worse(pairs: Sequence[RatePair], level: float, weight: Weight) -> bool:
    kinds = [pair for pair in pairs if 0 < pair.before.right + pair.now.right < pair.before.asked + pair.now.asked]
    rough = approximate_p_value(kinds, weight)
    is_close = level / _CLOSE < rough < level * _CLOSE or rough < _TINY
    is_exact = is_close and sum(pair.now.asked for pair in kinds) <= _MOST_EXACT
    return (p_value_worse(kinds, weight) if is_exact else rough) <= level


def approximate_p_value(pairs: Sequence[RatePair], weight: Weight) -> float:
    """About what `p_value_worse` gives, by a normal distribution with a correction for its skewness."""
    excess, spread, skewness = _moments(pairs, weight)
    if not spread:
        return 1.0
    far = (excess + 0.5) / spread
    density = exp(-far * far / 2) / sqrt(2 * pi)
    return min(max(erfc(-far / sqrt(2)) / 2 - density * skewness * (far * far - 1) / 6, 0.0), 1.0)


def _moments(pairs: Sequence[RatePair], weight: Weight) -> tuple[float, float, float]:
    """The weight of right answers now beyond the expected one; the standard deviation and skewness of it by chance."""
    excess = variance = third = 0.0
    for pair in pairs:
        right, asked, now = pair.before.right + pair.now.right, pair.before.asked + pair.now.asked, pair.now.asked
        share, each = right / asked, weight(pair)
        own = now * share * (1 - share) * (asked - now) / (asked - 1)
        excess += each * (pair.now.right - now * share)
        variance += each * each * own
        if asked > 2:
            third += each**3 * own * (1 - 2 * share) * (asked - 2 * now) / (asked - 2)
    return excess, sqrt(variance), third / variance**1.5 if variance else 0.0


def _some_for_good(rates: Sequence[float], drop: float, random: Random) -> Sequence[float]:
    """Lose cases until the drop is reached; the last one with the probability that makes it right in the mean."""
    left, worse = drop * len(rates), [*rates]
    for place in random.sample(range(len(rates)), len(rates)):
        if left <= 0:
            break
        if random.random() * rates[place] < left:
            worse[place] = 0.0
        left -= rates[place]
    return worse


def _without(rates: Sequence[float], count: int, random: Random) -> Sequence[float]:
    likely = [place for place, rate in enumerate(rates) if rate >= 0.5]
    lost = {*random.sample(likely, min(count, len(likely)))}
    return [0.0 if place in lost else rate for place, rate in enumerate(rates)]
