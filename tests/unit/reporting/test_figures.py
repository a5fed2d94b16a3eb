from __future__ import annotations

from statistics import NormalDist

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_fcall.core import Usage
from pytest_fcall.reporting.figures import (
    accuracy_text,
    cost_text,
    figures,
    interval_text,
    percentile,
    seconds_text,
    wilson,
)
from pytest_fcall.reporting.results import Result, Status


def result(status: Status, seconds: float | None = None, usage: Usage | None = None) -> Result:
    return Result("a::b", "b", "m", status, seconds=seconds, usage=usage)


Z = NormalDist().inv_cdf(0.975)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_the_ends_of_the_interval_are_where_the_score_test_turns(right: int, wrong: int) -> None:
    of = right + wrong
    assume(of)
    for end in wilson(right, of):
        distance = (right / of - end) ** 2
        assert distance == pytest.approx(Z**2 * end * (1 - end) / of, abs=1e-9)


@pytest.mark.parametrize(("right", "ends"), [(0, (0, Z**2 / (10 + Z**2))), (10, (10 / (10 + Z**2), 1))])
def test_the_interval_has_width_even_when_all_or_nothing_is_right(right: int, ends: tuple[float, float]) -> None:
    assert wilson(right, 10) == pytest.approx(ends)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_interval_holds_the_rate(right: int, wrong: int) -> None:
    low, high = wilson(right, right + wrong)
    assert 0 <= low <= high <= 1
    if right + wrong:
        assert low - 1e-12 <= right / (right + wrong) <= high + 1e-12


@pytest.mark.parametrize(("percent", "value"), [(0, 1), (50, 2), (51, 3), (95, 4), (100, 4)])
def test_a_percentile_is_one_of_the_values(percent: float, value: float) -> None:
    assert percentile([4, 1, 3, 2], percent) == value


def test_errors_are_no_wrong_answers() -> None:
    counted = figures([result(status) for status in ("passed", "failed", "error", "skipped", "xfailed", "xpassed")])
    assert (counted.right, counted.answered, counted.errors, counted.skipped) == (2, 4, 1, 1)
    assert counted.expected_failures == 1
    assert not counted.clean


def test_what_nobody_measured_stays_unknown() -> None:
    unknown = figures([result("passed"), result("passed", usage=Usage())])
    assert (unknown.p50, unknown.p95, unknown.tokens, unknown.cost) == (None, None, None, None)
    known = figures([result("passed", 2.0, Usage(10, None)), result("failed", 1.0, Usage(10, 5)), result("passed")])
    assert (known.p50, known.p95, known.tokens) == (1.0, 2.0, 25)


@pytest.mark.parametrize(
    ("right", "of", "accuracy", "interval"),
    [
        (0, 0, "-", "-"),
        (0, 5, "0.0 %", "[0, 43]"),
        (5, 5, "100.0 %", "[57, 100]"),
        (45, 48, "93.8 %", "[83, 98]"),
        (99_999, 100_000, "99.9 %", "[100, 100]"),
        (1, 100_000, "0.1 %", "[0, 0]"),
    ],
)
def test_not_quite_all_is_never_written_as_all(right: int, of: int, accuracy: str, interval: str) -> None:
    assert (accuracy_text(right, of), interval_text(right, of)) == (accuracy, interval)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, ""), (0.0, "0 ms"), (0.0421, "42 ms"), (0.84, "0.84 s"), (9.999, "10.00 s"), (1234.5, "1,234 s")],
)
def test_times_are_short(seconds: float | None, text: str) -> None:
    assert seconds_text(seconds) == text


@pytest.mark.parametrize(("cost", "text"), [(None, ""), (0, "$0.00"), (0.00042, "$0.0004"), (1234.5, "$1,234.50")])
def test_costs_are_dollars(cost: float | None, text: str) -> None:
    assert cost_text(cost) == text
