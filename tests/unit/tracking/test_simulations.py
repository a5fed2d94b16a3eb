"""The promises of the statistics, tried on runs of models that are known: `make statistics` prints more of them."""

from __future__ import annotations

from math import sqrt

import pytest

from benchmarks.statistics import Exam, alarms


@pytest.mark.parametrize(("exam", "runs"), [(Exam(), 3_000), (Exam(cases=50, samples=5), 1_000)])
def test_where_nothing_changed_false_alarms_are_as_rare_as_promised(exam: Exam, runs: int) -> None:
    chance = sqrt(0.05 * 0.95 / runs)
    assert 0.01 < alarms(exam, runs) <= 0.05 + 3 * chance


def test_of_two_hundred_cases_a_drop_of_ten_points_is_seen() -> None:
    assert alarms(Exam(drop=0.1), 300) > 0.9
    assert alarms(Exam(drop=0.05), 300) > alarms(Exam(drop=0.02), 300)
