"""Tests whether verdicts flip more often in variants of cases than when the same question is asked again.

If a relation changes nothing, the answers to a variant of a case are as good as further answers to the case itself. So
it is chance which of all these answers were given to the variant. Counted are the pairs of an answer to the case and
one to a variant whose verdicts differ; the probability of at least as many is computed exactly, over all ways to deal
the answers, case by case. That counts flips in both directions, where a test of the rates would see none if as many
verdicts get better as worse. The tests of several relations are adjusted by Holm's method.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb, fsum, prod
from typing import Final, Literal, NamedTuple, TypeAlias

from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.significance import SIGNIFICANCE_LEVEL, adjust_by_holm

FlipWord: TypeAlias = Literal["fragile", "not above the noise", "too few to say"]

_NOTHING: Final = 1e-18
"""Smaller probabilities are dropped: all of them together do not change a result visibly."""


class VariedCase(NamedTuple):
    """The answers to a case, and to its variants by one relation."""

    first: bool
    """Whether the first answer to the case is right."""
    own: Rate
    """All answers to the case itself, the first among them."""
    varied: Rate
    """The answers to the variants."""

    @property
    def to_wrong(self) -> int:
        """The number of wrong answers where the first one to the case is right."""
        return self.varied.asked - self.varied.right if self.first else 0

    @property
    def to_right(self) -> int:
        """The number of right answers where the first one to the case is wrong."""
        return 0 if self.first else self.varied.right

    @property
    def share(self) -> float:
        """The share of answers that flip."""
        return (self.to_wrong + self.to_right) / self.varied.asked


@dataclass(frozen=True, slots=True)
class RelationFlips:
    """The rate at which verdicts flip under one relation."""

    relation: str
    cases: int
    answers: int
    """The answers to variants of these cases."""
    to_wrong: int
    to_right: int
    rate: float
    """The mean share of answers that flip, each case counted once."""
    noise: float | None
    """The same for the same question asked again; None where no case was asked twice."""
    p_value: float = 1.0
    """The probability that chance alone flips as many, adjusted for the number of relations."""
    word: FlipWord = "too few to say"


def flips_of(varied: Mapping[str, Sequence[VariedCase]]) -> list[RelationFlips]:
    """The rates at which verdicts flip, by relation; `varied` has one entry a case for each."""
    found = [_counted(relation, cases) for relation, cases in varied.items() if cases]
    p_values = adjust_by_holm({each.relation: p_value_flips(varied[each.relation]) for each in found})
    return [
        replace(each, p_value=p_values[each.relation], word=_word(each, p_values, varied[each.relation]))
        for each in found
    ]


def p_value_flips(cases: Iterable[VariedCase]) -> float:
    """The probability that as many verdicts flip by chance; small if the variants are answered otherwise."""
    varied = [*cases]
    observed = sum(_discordant(each.own, each.varied) for each in varied)
    chances: Mapping[int, float] = {0: 1.0}
    for each in varied:
        chances = _convolved(chances, _dealt(each.own.right + each.varied.right, each.own.asked, each.varied.asked))
    return min(fsum(chance for flips, chance in chances.items() if flips >= observed), 1.0)


def least_p_value(cases: Iterable[VariedCase]) -> float:
    """The smallest p-value that so many answers can have: where all variants flip, and no repetition does."""
    return prod(_chance_of_most(each.own.asked, each.varied.asked) for each in cases)


def noise_of(own: Iterable[Rate]) -> float | None:
    """The probability that two answers to the same question differ, each case counted once."""
    shares = [2 * right * (asked - right) / (asked * (asked - 1)) for right, asked in own if asked > 1]
    return fsum(shares) / len(shares) if shares else None


def _counted(relation: str, cases: Sequence[VariedCase]) -> RelationFlips:
    return RelationFlips(
        relation,
        cases=len(cases),
        answers=sum(each.varied.asked for each in cases),
        to_wrong=sum(each.to_wrong for each in cases),
        to_right=sum(each.to_right for each in cases),
        rate=fsum(each.share for each in cases) / len(cases),
        noise=noise_of(each.own for each in cases),
    )


def _word(found: RelationFlips, p_values: Mapping[str, float], cases: Sequence[VariedCase]) -> FlipWord:
    if p_values[found.relation] <= SIGNIFICANCE_LEVEL:
        return "fragile"
    could_be_seen = least_p_value(cases) * len(p_values) <= SIGNIFICANCE_LEVEL
    return "not above the noise" if could_be_seen else "too few to say"


def _discordant(own: Rate, varied: Rate) -> int:
    """The pairs of an answer to the case and one to a variant whose verdicts differ."""
    return own.right * (varied.asked - varied.right) + (own.asked - own.right) * varied.right


@lru_cache(maxsize=4096)
def _dealt(right: int, own: int, varied: int) -> Mapping[int, float]:
    """The probability of each number of such pairs, if chance deals the answers."""
    ways, found = comb(own + varied, varied), Counter[int]()
    for taken in range(max(0, right - own), min(varied, right) + 1):
        pairs = _discordant(Rate(right - taken, own), Rate(taken, varied))
        found[pairs] += comb(right, taken) * comb(own + varied - right, varied - taken)
    return {pairs: count / ways for pairs, count in found.items()}


def _convolved(chances: Mapping[int, float], dealt: Mapping[int, float]) -> Mapping[int, float]:
    sums: dict[int, float] = {}
    for flips, chance in chances.items():
        for pairs, share in dealt.items():
            sums[flips + pairs] = sums.get(flips + pairs, 0.0) + chance * share
    return {flips: chance for flips, chance in sums.items() if chance > _NOTHING}


def _chance_of_most(own: int, varied: int) -> float:
    dealt = _dealt(own, own, varied)
    return dealt[max(dealt)]
