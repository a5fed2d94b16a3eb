from __future__ import annotations

from dataclasses import replace
from itertools import product
from random import Random
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking import slices
from pytest_fcall.tracking.significance import RatePair, p_value_worse
from pytest_fcall.tracking.slices import Slice, SliceTests, visible_drop

RIGHT, WRONG = Rate(1, 1), Rate(0, 1)
STAYED, LOST, WON = RatePair(RIGHT, RIGHT), RatePair(RIGHT, WRONG), RatePair(WRONG, RIGHT)


def test_what_one_model_gains_does_not_pay_for_what_another_loses() -> None:
    a = Slice("a", (STAYED,) * 63 + (WON,) * 37)
    b = Slice("b", (STAYED,) * 70 + (LOST,) * 30)
    tests = SliceTests(0.05, (a, b))
    assert [each.name for each, _ in tests.worse] == ["b"]
    assert tests.p_value == pytest.approx(2 * 2**-30)
    assert p_value_worse((*a.pairs, *b.pairs)) > 0.5  # both together hide it


def test_p_values_are_adjusted_for_the_number_of_slices() -> None:
    lost = Slice("lost", (LOST,) * 5)  # p = 1/32
    assert [p for _, p in SliceTests(0.05, (lost,)).worse] == [1 / 32]
    two = SliceTests(0.05, (lost, Slice("stayed", (STAYED,) * 5)))
    assert (two.worse, two.p_value) == ((), 2 / 32)


def test_a_slice_whose_p_value_is_the_level_got_worse() -> None:
    lost = Slice("lost", (LOST,) * 5)
    assert [each for each, _ in SliceTests(1 / 32, (lost,)).worse] == [lost]


def test_a_slice_that_lacks_replies_is_not_called_worse_and_hides_no_other() -> None:
    lost = (LOST,) * 9
    tests = SliceTests(0.05, (Slice("whole", lost), Slice("part", lost, missing=1)))
    assert [each.name for each, _ in tests.worse] == ["whole"]


def test_a_slice_is_called_worse_only_where_it_is_whatever_others_turn_out_to_be() -> None:
    whole, part = (
        Slice("whole", (LOST,) * 5),
        Slice("part", (LOST,) * 9, missing=99),
    )  # p = 1/32, and that of two is 1/16
    assert SliceTests(0.05, (whole, part)).worse == ()
    assert SliceTests(2 / 32, (whole, part)).worse == ((whole, 2 / 32),)
    assert SliceTests(0.05, (whole, replace(part, missing=0))).worse == (
        (replace(part, missing=0), 2**-8),
        (whole, 1 / 32),
    )


def test_without_pairs_nothing_is_tested() -> None:
    tests = SliceTests(0.05, (Slice("a"),))
    assert (tests.p_value, tests.worse, tests.visible_drops, tests.could_fail) == (None, (), (), False)


@pytest.mark.parametrize(
    ("cases", "level", "drop"),
    [
        (4, 0.05, None),  # even 4 of 4 have p = 1/16
        (5, 0.05, 1.0),  # 5 of 5 have p = 1/32
        (20, 0.05, 0.25),
        (20, 0.03125, 0.25),
        (20, 0.03, 0.3),
        (100, 0.005, 0.08),
    ],
)
def test_so_many_cases_must_be_lost_that_coins_seldom_show_as_many_heads(
    cases: int, level: float, drop: float | None
) -> None:
    assert visible_drop([STAYED] * cases, level) == drop


def test_cases_that_were_answered_often_show_a_smaller_drop() -> None:
    often = [RatePair(Rate(20, 20), RIGHT)] * 20
    assert visible_drop(often, 0.05) == 0.05  # one case has p = 1/21


def test_what_was_never_right_cannot_be_lost() -> None:
    assert visible_drop([RatePair(Rate(0, 3), WRONG)] * 50, 0.05) is None
    assert visible_drop([], 0.05) is None


def test_cases_that_vary_hide_more() -> None:
    steady = [RatePair(Rate(20, 20), RIGHT)] * 50
    varying = [RatePair(Rate(12, 20), RIGHT)] * 30 + [RatePair(Rate(12, 20), WRONG)] * 20
    seen, hidden = visible_drop(steady, 0.05), visible_drop(steady + varying, 0.05)
    assert seen is not None
    assert hidden is not None
    assert hidden > 2 * seen


def test_the_cases_that_tell_the_least_for_what_they_cost_are_lost_first() -> None:
    often = RatePair(Rate(20, 20), RIGHT)
    assert visible_drop([STAYED] * 10 + [often] * 10, 0.05) == 0.25  # five with p = 1/32, where one has p = 1/21
    assert visible_drop([often] * 10 + [STAYED] * 10, 0.05) == 0.25


@pytest.mark.parametrize("reverse", [False, True])
def test_what_a_case_tells_is_weighed_against_the_part_that_is_right_now(reverse: bool) -> None:
    whole, half = RatePair(Rate(5, 6), RIGHT), RatePair(Rate(2, 3), Rate(1, 2))  # p = 2/7 for 1, p = 3/10 for 1/2
    pairs = [whole] * 12 + [half] * 12
    assert visible_drop(pairs[::-1] if reverse else pairs, 0.05) == pytest.approx(5 / 24)


def test_what_changed_for_better_and_worse_hides_more() -> None:
    changed = [LOST] * 10 + [WON] * 10
    assert visible_drop([STAYED] * 80 + changed, 0.05) == 0.1  # 20 lost and 10 won have p = 0.049
    assert visible_drop([STAYED] * 100, 0.05) == 0.05


@given(
    st.lists(
        st.tuples(
            st.sampled_from([Rate(1, 1), Rate(3, 3), Rate(2, 3), Rate(1, 3), Rate(0, 1)]),
            st.sampled_from([RIGHT, WRONG]),
        ),
        min_size=1,
        max_size=7,
    ),
    st.sampled_from([0.3, 0.1, 0.05]),
)
def test_a_test_could_fail_if_any_outcome_of_the_run_fails(rates: list[tuple[Rate, Rate]], level: float) -> None:
    pairs = tuple(RatePair(*each) for each in rates)
    outcomes = product((RIGHT, WRONG), repeat=len(pairs))
    least = min(
        p_value_worse(RatePair(pair.before, now) for pair, now in zip(pairs, each, strict=True)) for each in outcomes
    )
    assert SliceTests(level, (Slice("a", pairs),)).could_fail is (least <= level)


@given(st.lists(st.sampled_from([STAYED, LOST, WON, RatePair(Rate(9, 10), RIGHT)]), max_size=40))
def test_the_drop_is_the_smallest_that_fails(pairs: list[RatePair]) -> None:
    drop = visible_drop(pairs, 0.05)
    lost = [
        LOST if pair == STAYED else RatePair(pair.before, WRONG) if pair.before.share > 0.5 else pair for pair in pairs
    ]
    assert (drop is None) is (p_value_worse(lost) > 0.05)
    if p_value_worse(pairs) <= 0.05:
        assert drop == pytest.approx(-sum(pair.difference for pair in pairs) / len(pairs))


@pytest.mark.parametrize(("cases", "answers"), [(30, 1), (300, 4), (2_000, 1)])
@pytest.mark.parametrize("level", [0.05, 0.001])
def test_the_drop_is_looked_for_where_it_is(cases: int, answers: int, level: float) -> None:
    chance = Random(cases)  # noqa: S311  a failure must come again

    def answered(rate: float) -> Rate:
        return Rate(sum(chance.random() < rate for _ in range(answers)), answers)

    rates = [chance.choice([1, 1, 1, 1, 0.9, 0.5, 0.2, 0]) for _ in range(cases)]
    pairs = [RatePair(answered(rate), answered(rate)) for rate in rates]
    with patch.object(slices, "p_value_worse", wraps=p_value_worse) as tested:
        visible_drop(pairs, level)
    assert sum(len(call.args[0]) == cases for call in tested.call_args_list) <= 4


def test_at_the_level_itself_a_slice_could_fail() -> None:
    tests = SliceTests(0.5, (Slice("a", (STAYED,)),))
    assert tests.could_fail
    assert not replace(tests, level=0.499).could_fail


def test_slices_with_the_largest_invisible_drop_come_first() -> None:
    tests = SliceTests(
        0.05, (Slice("many", (STAYED,) * 100), Slice("few", (STAYED,) * 3), Slice("some", (STAYED,) * 9))
    )
    assert [(each.name, drop) for each, drop in tests.visible_drops] == [
        ("few", None),
        ("some", pytest.approx(6 / 9)),
        ("many", 0.06),
    ]
    assert tests.could_fail


def test_a_case_that_was_answered_so_often_that_its_loss_cannot_be_chance_is_lost_like_others() -> None:
    often = RatePair(Rate(50, 50), Rate(40, 50))
    assert visible_drop([often, RatePair(Rate(1, 1), Rate(1, 1))], 0.05) == pytest.approx(0.1)
    assert visible_drop([RatePair(Rate(50, 50), Rate(50, 50))], 0.05) == 1.0
