from __future__ import annotations

from itertools import product
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.significance import (
    RatePair,
    adjust_by_holm,
    difference_interval,
    p_value_different,
    p_value_worse,
    weigh_by_steadiness,
)


def single(lost: int, won: int, same: int = 0) -> list[RatePair]:
    right, wrong = Rate(1, 1), Rate(0, 1)
    return [RatePair(right, wrong)] * lost + [RatePair(wrong, right)] * won + [RatePair(right, right)] * same


@st.composite
def rates(draw: st.DrawFn) -> Rate:
    asked = draw(st.integers(1, 6))
    return Rate(draw(st.integers(0, asked)), asked)


PAIRS = st.lists(st.builds(RatePair, rates(), rates()), max_size=5)


@pytest.mark.parametrize(("lost", "won"), [*product((0, 1, 2, 5, 13, 60), repeat=2)])
def test_of_single_answers_it_is_mcnemars_exact_test(lost: int, won: int) -> None:
    from scipy import stats
    from statsmodels.stats.contingency_tables import mcnemar  # type: ignore[import-untyped]  # it has no types

    table = [[50, lost], [won, 7]]
    assert p_value_different(single(lost, won, 57)) == pytest.approx(mcnemar(table, exact=True).pvalue)
    if lost + won:
        one_sided = stats.binomtest(lost, lost + won, alternative="greater").pvalue
        assert p_value_worse(single(lost, won)) == pytest.approx(one_sided)


@given(rates(), rates())
def test_of_one_case_it_is_fishers_exact_test(before: Rate, now: Rate) -> None:
    from scipy import stats

    table = np.array([[now.right, now.asked - now.right], [before.right, before.asked - before.right]])
    assert p_value_worse([RatePair(before, now)]) == pytest.approx(stats.fisher_exact(table, alternative="less").pvalue)


@given(PAIRS)
def test_all_ways_to_deal_the_answers_are_counted(pairs: list[RatePair]) -> None:
    from scipy import stats

    chances = np.ones(1)
    for pair in pairs:
        urn = stats.hypergeom(pair.before.asked + pair.now.asked, pair.before.right + pair.now.right, pair.now.asked)
        chances = np.convolve(chances, urn.pmf(np.arange(pair.now.asked + 1)))
    now = sum(pair.now.right for pair in pairs)
    assert p_value_worse(pairs) == pytest.approx(float(chances[: now + 1].sum()))


@given(PAIRS)
def test_an_answer_of_some_weight_counts_like_so_many(pairs: list[RatePair]) -> None:
    from scipy import stats

    chances = np.ones(1)
    for pair in pairs:
        urn = stats.hypergeom(pair.before.asked + pair.now.asked, pair.before.right + pair.now.right, pair.now.asked)
        weighed = np.zeros(weigh_by_steadiness(pair) * pair.now.asked + 1)
        weighed[:: weigh_by_steadiness(pair)] = urn.pmf(np.arange(pair.now.asked + 1))
        chances = np.convolve(chances, weighed)
    now = sum(weigh_by_steadiness(pair) * pair.now.right for pair in pairs)
    assert p_value_worse(pairs, weigh_by_steadiness) == pytest.approx(float(chances[: now + 1].sum()))


@given(st.lists(st.builds(RatePair, rates(), rates()), max_size=3), st.floats(0.001, 0.5))
def test_weights_leave_false_alarms_as_rare_as_the_level(pairs: list[RatePair], level: float) -> None:
    alarms = 0.0
    for now in product(*[range(pair.now.asked + 1) for pair in pairs]):
        dealt = [_dealt(pair, right) for pair, right in zip(pairs, now, strict=True)]
        chance = prod(each[1] for each in dealt)
        if chance and p_value_worse([each[0] for each in dealt], weigh_by_steadiness) <= level:
            alarms += chance
    assert alarms <= level + 1e-9


def _dealt(pair: RatePair, right: int) -> tuple[RatePair, float]:
    """The same answers, of which so many right ones are those of now, and how likely that is."""
    rights = pair.before.right + pair.now.right
    ways = comb(rights, right) * comb(pair.before.asked + pair.now.asked - rights, pair.now.asked - right)
    other = RatePair(Rate(rights - right, pair.before.asked), Rate(right, pair.now.asked))
    return other, ways / comb(pair.before.asked + pair.now.asked, pair.now.asked)


def test_a_little_that_many_steady_cases_lose_is_seen_beside_such_as_vary() -> None:
    steady = [RatePair(Rate(10, 10), Rate(0, 1))] * 4 + [RatePair(Rate(10, 10), Rate(1, 1))] * 60
    varying = [RatePair(Rate(7, 10), Rate(0, 1))] * 9 + [RatePair(Rate(7, 10), Rate(1, 1))] * 21
    assert p_value_worse(steady + varying) > 0.03
    assert p_value_worse(steady + varying, weigh_by_steadiness) < 0.003
    assert p_value_worse(varying, weigh_by_steadiness) == p_value_worse(varying)


def test_scipys_permutation_test_says_the_same() -> None:
    from scipy import stats

    before, now = [1, 1, 1, 1, 1, 0, 1, 1], [0, 1, 0, 0, 1, 1, 0, 0]
    said = stats.permutation_test(
        (before, now), lambda one, other: sum(other) - sum(one), permutation_type="samples", alternative="less"
    )
    pairs = [RatePair(Rate(one, 1), Rate(other, 1)) for one, other in zip(before, now, strict=True)]
    assert p_value_worse(pairs) == pytest.approx(said.pvalue)


@given(PAIRS)
def test_to_get_worse_is_to_get_better_seen_from_the_other_side(pairs: list[RatePair]) -> None:
    turned = [RatePair(pair.now, pair.before) for pair in pairs]
    assert p_value_different(pairs) == pytest.approx(p_value_different(turned))
    assert 0 <= p_value_worse(pairs) <= 1
    assert p_value_worse(pairs) + p_value_worse(turned) >= 1 - 1e-12
    low, high = difference_interval(pairs)
    assert (low, high) == pytest.approx(tuple(-end for end in reversed(difference_interval(turned))))


def test_what_did_not_change_says_nothing() -> None:
    assert p_value_worse([]) == p_value_different([]) == 1
    assert p_value_worse(single(3, 0)) == p_value_worse(single(3, 0, 1000)) == 1 / 8


def test_what_is_certain_has_the_probability_1_although_it_is_a_sum_of_many() -> None:
    assert p_value_worse([RatePair(Rate(0, 3), Rate(3, 3))] * 5) == 1  # the sum of all chances is a little more


def test_a_rate_that_breaks_down_is_seen_in_one_case() -> None:
    assert p_value_worse([RatePair(Rate(4, 5), Rate(0, 5))]) == pytest.approx(5 / comb(10, 4))
    assert p_value_worse([RatePair(Rate(4, 5), Rate(3, 5))]) == 0.5


def test_ten_thousand_cases_with_five_answers_each_are_counted_exactly() -> None:
    pairs = [RatePair(Rate(3, 5), Rate(3, 5))] * 1_000 + [RatePair(Rate(5, 5), Rate(5, 5))] * 9_000
    assert 0.5 < p_value_worse(pairs) < 0.52
    drop = [RatePair(Rate(3, 5), Rate(2, 5))] * 1_000
    assert 0 <= p_value_worse(drop) < 1e-15


def test_the_interval_of_the_difference_is_that_of_bonett_and_price() -> None:
    from scipy import stats

    low, high = difference_interval(single(lost=12, won=4, same=84))
    lost, won = 13 / 102, 5 / 102
    margin = stats.norm.ppf(0.975) * np.sqrt((lost + won - (lost - won) ** 2) / 102)
    assert (low, high) == pytest.approx((won - lost - margin, won - lost + margin))


def test_the_interval_has_width_even_where_nothing_changed() -> None:
    low, high = difference_interval(single(0, 0, 10))
    assert low < 0 < high
    assert difference_interval([])[1] == 1


@pytest.mark.parametrize(
    "chances",
    [
        {"simple": 0.04, "parallel": 0.01, "irrelevance": 0.03, "multiple": 0.005},
        {"a": 0.5, "b": 0.5, "c": 0.0},
        {"a": 1.0, "b": 0.9},
    ],
)
def test_holm_adjusts_as_statsmodels_does(chances: dict[str, float]) -> None:
    from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]  # it has no types

    _, adjusted, _, _ = multipletests(list(chances.values()), method="holm")
    assert list(adjust_by_holm(chances)) == list(chances)
    assert list(adjust_by_holm(chances).values()) == pytest.approx(list(adjusted))


def test_one_test_stays_as_it_is_and_none_is_none() -> None:
    assert adjust_by_holm({"simple": 0.03}) == {"simple": 0.03}
    assert adjust_by_holm({}) == {}
