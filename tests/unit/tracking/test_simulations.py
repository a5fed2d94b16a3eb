"""The promises of the statistics, tried on runs of models that are known: `make statistics` prints more of them."""

from __future__ import annotations

from math import sqrt
from random import Random

import pytest

from benchmarks.noisy_models import accepted_project, rates_of
from benchmarks.statistics import DROPS, Exam, alarms
from tests.by_night import by_night


@pytest.mark.parametrize(
    ("exam", "runs"),
    [(Exam(), 600), by_night(Exam(), 3_000), by_night(Exam(cases=50, samples=5), 1_000)],
)
def test_where_nothing_changed_false_alarms_are_as_rare_as_promised(exam: Exam, runs: int) -> None:
    chance = sqrt(0.05 * 0.95 / runs)
    assert 0.01 < alarms(exam, runs) <= 0.05 + 3 * chance


def test_of_two_hundred_cases_a_drop_of_ten_points_is_seen() -> None:
    assert alarms(Exam(drop=0.1), 100) > 0.9
    assert alarms(Exam(drop=0.05), 100) > alarms(Exam(drop=0.02), 100)


def test_of_five_hundred_cases_five_that_are_lost_are_seen_after_one_accepted_run() -> None:
    random = Random(1)  # noqa: S311  # nothing is secret here
    rates = rates_of("realistic", 500, random)
    project = accepted_project(rates, "once", random)
    unchanged = project.copy().run(rates)
    lost = project.run(DROPS["5 cases lost"](project, rates, random))

    assert (unchanged.is_red, lost.regressed) == (False, 5)
    assert max(unchanged.asked, lost.asked) <= 1.3 * 500


def test_a_model_that_gets_a_little_worse_everywhere_is_seen_after_a_few_runs() -> None:
    random = Random(2)  # noqa: S311  # nothing is secret here
    rates = rates_of("realistic", 100, random)
    project = accepted_project(rates, "last of five", random)
    for _ in range(5):
        assert not project.run(rates).is_worse
    assert project.run(DROPS["each case −10 points"](project, rates, random)).is_worse
