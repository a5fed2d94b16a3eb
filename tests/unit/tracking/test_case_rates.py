from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.noisy_models import WORLDS
from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.case_rates import CaseRates

LEVEL = 0.005
RATES = st.integers(1, 60).flatmap(lambda asked: st.builds(Rate, st.integers(0, asked), st.just(asked)))
MEASURED = st.lists(RATES, max_size=30)


def answers(rate: float, asked: int, random: Random) -> Rate:
    return Rate(sum(random.random() < rate for _ in range(asked)), asked)


@pytest.mark.parametrize("asked_before", [1, 4, 12])
@pytest.mark.parametrize("asked_now", [1, 4, 13])
@pytest.mark.parametrize("world", ["realistic", "steady"])
def test_unchanged_cases_are_rarely_below_the_level(world: str, asked_before: int, asked_now: int) -> None:
    random = Random(1)  # noqa: S311  # nothing is secret here
    cases = below = 0
    for _ in range(15):
        rates = [WORLDS[world](random) for _ in range(150)]
        before = [answers(rate, asked_before, random) for rate in rates]
        estimated = CaseRates.estimated(before)
        for rate, found in zip(rates, before, strict=True):
            cases += 1
            below += estimated.chance(found, answers(rate, asked_now, random)) <= LEVEL
    assert below <= LEVEL * cases


def test_a_case_that_is_lost_is_below_the_level_after_few_answers() -> None:
    steady = CaseRates.estimated([Rate(5, 5)] * 200)
    assert steady.chance(Rate(5, 5), Rate(0, 2)) <= LEVEL
    assert steady.chance(Rate(5, 5), Rate(4, 5)) > LEVEL


def test_where_many_cases_vary_a_wrong_answer_says_less() -> None:
    steady = CaseRates.estimated([Rate(6, 6)] * 100)
    varying = CaseRates.estimated([Rate(6, 6)] * 50 + [Rate(right, 6) for right in (2, 3, 4, 5)] * 12)
    assert steady.chance(Rate(1, 1), Rate(0, 3)) < varying.chance(Rate(1, 1), Rate(0, 3)) / 3


@given(MEASURED, RATES, st.integers(1, 40))
def test_the_fewer_answers_are_right_the_smaller_is_the_chance(
    measured: Sequence[Rate], before: Rate, asked: int
) -> None:
    estimated = CaseRates.estimated(measured)
    chances = [estimated.chance(before, Rate(right, asked)) for right in range(asked + 1)]
    assert all(0 <= chance <= 1 for chance in chances)
    assert all(fewer <= more + 1e-12 for fewer, more in pairwise(chances))
    assert chances[-1] == 1


@given(MEASURED, st.integers(1, 50), st.integers(1, 12))
def test_the_more_right_answers_there_were_before_the_smaller_is_the_chance_of_wrong_ones(
    measured: Sequence[Rate], before: int, wrong: int
) -> None:
    estimated = CaseRates.estimated(measured)
    fewer, more = (estimated.chance(Rate(right, right), Rate(0, wrong)) for right in (before, before + 1))
    assert more <= fewer + 1e-12


@given(st.lists(RATES, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_cases_says_nothing(measured: list[Rate], random: Random) -> None:
    shuffled = random.sample(measured, len(measured))
    one, other = (CaseRates.estimated(each).chance(Rate(1, 1), Rate(0, 3)) for each in (measured, shuffled))
    assert one == pytest.approx(other)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (Rate(5_000, 5_000), Rate(0, 5_000)),
        (Rate(0, 5_000), Rate(4_999, 5_000)),
        (Rate(2_500, 5_000), Rate(2_400, 5_000)),
        (Rate(10**12, 10**12), Rate(0, 1)),
        (Rate(0, 10**9), Rate(0, 1)),
    ],
)
def test_thousands_of_answers_have_a_chance_too(before: Rate, now: Rate) -> None:
    assert 0 <= CaseRates.estimated([before, now]).chance(before, now) <= 1


def test_what_was_never_measured_is_judged_by_what_is_usual() -> None:
    usual = CaseRates.estimated([])
    assert usual.chance(Rate(1, 1), Rate(0, 1)) > LEVEL
    assert usual.chance(Rate(1, 1), Rate(0, 13)) < LEVEL
    assert usual.chance(Rate(0, 0), Rate(0, 1)) < 0.5


def test_a_few_cases_hardly_change_what_is_usual() -> None:
    usual, few = (CaseRates.estimated(measured) for measured in ([], [Rate(0, 1)] * 2))
    before, now = Rate(1, 1), Rate(0, 3)
    assert few.chance(before, now) == pytest.approx(usual.chance(before, now), rel=0.2)
