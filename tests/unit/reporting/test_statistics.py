from __future__ import annotations

from statistics import NormalDist

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_fcall.core import Usage
from pytest_fcall.reporting.number_text import accuracy_text, cost_text, interval_text, seconds_text, speed_text
from pytest_fcall.reporting.results import Result, Status
from pytest_fcall.reporting.statistics import (
    FailingGroup,
    failing_groups,
    mean_interval,
    median_interval,
    percentile,
    statistics_of,
    wilson_interval,
)


def result(
    status: Status = "passed",
    seconds: float | None = None,
    usage: Usage | None = None,
    cost: float | None = None,
    replayed: bool = False,
) -> Result:
    return Result("a::b", "b", "m", status, seconds=seconds, usage=usage, cost=cost, replayed=replayed)


Z = NormalDist().inv_cdf(0.975)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_the_ends_of_the_interval_are_where_the_score_test_turns(right: int, wrong: int) -> None:
    of = right + wrong
    assume(of)
    for end in wilson_interval(right, of):
        distance = (right / of - end) ** 2
        assert distance == pytest.approx(Z**2 * end * (1 - end) / of, abs=1e-9)


@pytest.mark.parametrize(("right", "ends"), [(0, (0, Z**2 / (10 + Z**2))), (10, (10 / (10 + Z**2), 1))])
def test_the_interval_has_width_even_when_all_or_nothing_is_right(right: int, ends: tuple[float, float]) -> None:
    assert wilson_interval(right, 10) == pytest.approx(ends)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_interval_holds_the_rate(right: int, wrong: int) -> None:
    low, high = wilson_interval(right, right + wrong)
    assert 0 <= low <= high <= 1
    if right + wrong:
        assert low - 1e-12 <= right / (right + wrong) <= high + 1e-12


@pytest.mark.parametrize(("percent", "value"), [(0, 1), (50, 2), (51, 3), (95, 4), (100, 4)])
def test_a_percentile_is_one_of_the_values(percent: float, value: float) -> None:
    assert percentile([4, 1, 3, 2], percent) == value


def test_errors_are_no_wrong_answers() -> None:
    counted = statistics_of(
        [result(status) for status in ("passed", "failed", "error", "skipped", "xfailed", "xpassed")]
    )
    assert (counted.right, counted.answered, counted.errors, counted.skipped) == (2, 4, 1, 1)
    assert counted.expected_failures == 1
    assert not counted.is_clean


def test_what_nobody_measured_stays_unknown() -> None:
    unknown = statistics_of([result("passed"), result("passed", usage=Usage())])
    assert (unknown.p50, unknown.p95, unknown.slowest, unknown.tokens, unknown.speed) == (None,) * 5
    assert (unknown.cost, unknown.new_cost, unknown.unpriced) == (None, None, 2)
    known = statistics_of(
        [result("passed", 2.0, Usage(10, None)), result("failed", 1.0, Usage(10, 5)), result("passed")]
    )
    assert (known.p50, known.p95, known.slowest, known.tokens) == (1.0, 2.0, 2.0, 25)


def test_only_what_was_both_counted_and_timed_makes_a_speed() -> None:
    timed = [result(seconds=2.0, usage=Usage(1000, 30)), result(seconds=1.0, usage=Usage(1000, 60))]
    others = [result(seconds=5.0), result(usage=Usage(10, 100)), result(seconds=0.0, usage=Usage(10, 100))]
    assert statistics_of([*timed, *others]).speed == 30


def test_what_a_recorded_reply_did_cost_is_told_from_what_was_spent_now() -> None:
    counted = statistics_of(
        [result(cost=1.0), result(cost=2.0, replayed=True), result("failed"), result("error", cost=None)]
    )
    assert (counted.cost, counted.new_cost, counted.unpriced) == (3.0, 1.0, 1)
    assert statistics_of([result(cost=2.0, replayed=True)]).new_cost is None


def test_free_is_not_unknown() -> None:
    assert (statistics_of([result(cost=0.0)]).cost, statistics_of([result(cost=0.0)]).unpriced) == (0.0, 0)


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


@pytest.mark.parametrize(
    ("cost", "text"),
    [(None, ""), (0, "$0.00"), (0.00042, "$0.0004"), (0.00001, "<$0.0001"), (1234.5, "$1,234.50")],
)
def test_costs_are_dollars(cost: float | None, text: str) -> None:
    assert cost_text(cost) == text


@pytest.mark.parametrize(("cost", "text"), [(None, ""), (0, "$0.00+"), (0.00001, "<$0.0001+"), (2, "$2.00+")])
def test_a_plus_stands_for_what_is_of_unknown_cost(cost: float | None, text: str) -> None:
    assert cost_text(cost, unpriced=3) == text


@pytest.mark.parametrize(("speed", "text"), [(None, ""), (3.14, "3.1"), (1234.5, "1,234")])
def test_speeds_are_short(speed: float | None, text: str) -> None:
    assert speed_text(speed) == text


@pytest.mark.parametrize(("count", "place"), [(5, None), (6, 0), (10, 1), (20, 5), (100, 39), (1000, 468)])
def test_the_interval_of_a_median_lies_between_the_values_that_binomial_chances_name(
    count: int, place: int | None
) -> None:
    values = [float(each) for each in range(count)]
    assert median_interval(values[::-1]) == (None if place is None else (place, count - 1 - place))


@pytest.mark.parametrize(
    ("values", "quantile"), [([0.0, 0, 1, 1], 3.182), ([0.0, 1] * 5, 2.262), ([0.0, 1] * 50, 1.984)]
)
def test_the_interval_of_a_mean_is_that_of_students_distribution(values: list[float], quantile: float) -> None:
    found = mean_interval(values)
    assert found is not None
    free = len(values) - 1
    deviation = (sum((each - 0.5) ** 2 for each in values) / free) ** 0.5
    assert found[1] - 0.5 == pytest.approx(quantile * deviation / len(values) ** 0.5, rel=0.015)
    assert found[0] + found[1] == pytest.approx(1)


def test_of_few_values_no_interval_of_a_mean_is_known() -> None:
    assert mean_interval([1.0, 2.0, 3.0]) is None


def of_tool(tool: str, tags: tuple[str, ...], *right: bool) -> list[Result]:
    return [
        Result("a::b", "b", "m", "passed" if each else "failed", tags=tags, called=((tool, tool),)) for each in right
    ]


def test_a_tool_and_a_tag_with_more_failures_than_chance_explains_are_found() -> None:
    results = [*of_tool("book", ("trips",), *[False] * 6), *of_tool("find", ("shop",), *[True] * 30, False)]
    assert failing_groups(results) == [
        FailingGroup("tool", "book", 6, 6, 1, 31),
        FailingGroup("tag", "trips", 6, 6, 1, 31),
    ]


@pytest.mark.parametrize(
    "results",
    [
        [],
        of_tool("book", ("trips",), False, False, True),
        [*of_tool("book", (), False), *of_tool("find", (), True)],
        [*of_tool("book", (), False, False, True), *of_tool("find", (), True, True, False)],
    ],
    ids=["nothing", "all", "one of each", "few"],
)
def test_where_chance_explains_it_nothing_is_said(results: list[Result]) -> None:
    assert failing_groups(results) == []
