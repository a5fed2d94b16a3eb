from __future__ import annotations

import pytest

from pytest_fcall.core.rate import Rate
from pytest_fcall.tracking.samples import is_confirmed, is_worse


@pytest.mark.parametrize(
    ("before", "now", "worse"),
    [
        ((4, 5), (0, 5), True),
        ((5, 5), (4, 5), False),
        ((5, 5), (1, 5), True),
        ((1, 1), (0, 1), False),
        ((0, 5), (5, 5), False),
        ((18, 20), (10, 20), True),
        ((18, 20), (16, 20), False),
    ],
)
def test_fewer_right_answers_than_chance_allows_are_worse(
    before: tuple[int, int], now: tuple[int, int], worse: bool
) -> None:
    assert is_worse(Rate(*before), Rate(*now)) is worse


@pytest.mark.parametrize(("now", "confirmed"), [((0, 6), True), ((3, 6), True), ((4, 6), False), ((5, 6), False)])
def test_where_one_answer_was_accepted_most_of_those_asked_for_again_decide(
    now: tuple[int, int], confirmed: bool
) -> None:
    assert is_confirmed(None, Rate(*now)) is confirmed


@pytest.mark.parametrize(("now", "confirmed"), [((0, 6), True), ((4, 6), False)])
def test_where_a_rate_was_accepted_rates_decide(now: tuple[int, int], confirmed: bool) -> None:
    assert is_confirmed(Rate(9, 10), Rate(*now)) is confirmed
