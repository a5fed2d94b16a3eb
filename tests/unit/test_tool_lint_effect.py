"""The figures behind the rules of `fcall tools lint` are those that the method says."""

from __future__ import annotations

import pytest

from benchmarks.tool_lint import Seen, effect


def test_a_difference_within_strata_is_not_one_between_them() -> None:
    easy = [Seen(("easy",), f"e{n}", n < 10, n % 10 == 0) for n in range(100)]
    hard = [Seen(("hard",), f"h{n}", n < 90, n % 2 == 0) for n in range(100)]
    found = effect([*easy, *hard])
    assert found is not None
    assert found.difference == pytest.approx(0)
    assert found.low < 0 < found.high
    assert (found.applied, found.cases) == (100, 100)


def test_answers_to_one_case_count_as_one() -> None:
    alone = effect(Seen(("all",), str(n), n < 20, n % 4 == 0) for n in range(40))
    repeated = effect(Seen(("all",), str(n // 10), n < 200, n // 10 % 4 == 0) for n in range(400))
    assert alone is not None
    assert repeated is not None
    assert repeated.low == pytest.approx(alone.low)


def test_nothing_is_said_where_nothing_compares() -> None:
    assert effect([Seen(("all",), "a", True, True), Seen(("none",), "b", False, False)]) is None
