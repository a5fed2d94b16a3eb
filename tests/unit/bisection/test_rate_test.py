from __future__ import annotations

import pytest

from pytest_fcall.bisection.search import ERROR, ErrorBudget, OneAnswer, RateTest, fewest_answers
from pytest_fcall.core.verdict import Rate
from pytest_fcall.tracking.case_rates import CaseRates

STEADY = RateTest(CaseRates.estimated([Rate(9, 9)] * 50), Rate(20, 20), Rate(0, 10))


def test_a_case_that_never_flipped_is_decided_by_few_answers() -> None:
    assert fewest_answers(STEADY, 0.005, 20) <= 3
    assert STEADY.fails(Rate(0, 3), 0.005) is True
    assert STEADY.fails(Rate(3, 3), 0.005) is False


def test_a_case_of_which_little_is_known_takes_more() -> None:
    little = RateTest(CaseRates.estimated([]), Rate(1, 1), Rate(0, 6))
    assert little.fails(Rate(0, 1), 0.005) is None
    assert fewest_answers(STEADY, 0.005, 20) < fewest_answers(little, 0.005, 20) < 20


def test_answers_in_the_middle_decide_nothing() -> None:
    assert STEADY.fails(Rate(5, 10), 0.005) is None


def test_a_smaller_error_takes_more_answers() -> None:
    flaky = RateTest(CaseRates.estimated([Rate(7, 10)] * 20), Rate(16, 20), Rate(1, 10))
    assert fewest_answers(flaky, 0.05, 50) < fewest_answers(flaky, 0.001, 50)


@pytest.mark.parametrize("planned", [0, 1, 7, 40])
def test_however_many_decisions_are_made_their_errors_keep_to_the_whole(planned: int) -> None:
    budget = ErrorBudget(planned)
    assert sum(budget.next() for _ in range(planned + 10_000)) <= ERROR * 1.000001


def test_one_answer_decides_where_a_model_always_says_the_same() -> None:
    assert OneAnswer().fails(Rate(0, 1), 0.01) is True
    assert OneAnswer().fails(Rate(1, 1), 0.01) is False
    assert OneAnswer().fails(Rate(0, 0), 0.01) is None
