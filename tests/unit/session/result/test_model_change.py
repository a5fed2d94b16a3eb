from __future__ import annotations

import pytest

from pytest_fcall.core import Outcome
from pytest_fcall.core.verdict import Rate
from pytest_fcall.reporting.results import Result
from pytest_fcall.session.result.model_change import first_answers, rate_pair, worse_level, worse_models
from pytest_fcall.tracking.significance import RatePair

RIGHT = Result("", "", "openai:a", "passed", outcome=Outcome.OK, before=(3, 3))
WRONG = RIGHT._replace(status="failed", outcome=Outcome.REGRESSED)
FIXED = RIGHT._replace(outcome=Outcome.FIXED, before=(0, 3))


def of(model: str, *results: Result) -> list[Result]:
    return [result._replace(model=model) for result in results]


def test_what_one_model_gains_does_not_hide_that_another_is_worse() -> None:
    results = of("openai:a", *[FIXED] * 40, *[RIGHT] * 60) + of("openai:b", *[WRONG] * 30, *[RIGHT] * 70)
    assert [worse.line for worse in worse_models(results)] == [
        "openai:b is worse: 70 of 100 answers right, 100.0 % before (p < 0.001)"
    ]


def test_two_models_are_not_worse_together_where_neither_is_by_itself() -> None:
    few = [WRONG] * 3 + [RIGHT] * 20  # p = 1/64 with three answers each before
    assert not list(worse_models(of("openai:a", *few) + of("openai:b", *few)))
    assert list(worse_models(of("openai:a", *few, *few)))


def test_models_without_a_measurement_are_not_compared() -> None:
    assert not list(worse_models([WRONG._replace(before=None)] * 50))


def test_the_more_is_measured_the_smaller_is_the_level() -> None:
    levels = [worse_level([RatePair(Rate(asked, asked), Rate(1, 1))] * 7) for asked in range(1, 20)]
    assert levels[0] == 0.02
    assert levels == sorted(levels, reverse=True)
    assert levels[-1] > 0.001 == worse_level([RatePair(Rate(500, 1_000), Rate(1, 1))])
    assert sum(levels) < 0.075


@pytest.mark.parametrize(
    ("result", "rate"),
    [
        (RIGHT, Rate(1, 1)),
        (WRONG, Rate(0, 1)),
        (RIGHT._replace(samples=(3, 5)), Rate(3, 5)),
        (WRONG._replace(samples=(4, 7), first=(0, 1)), Rate(0, 1)),  # it was asked again since it was wrong
        (RIGHT._replace(status="failed", outcome=Outcome.DRIFTED), Rate(1, 1)),  # --fc-drift=fail
    ],
)
def test_the_first_answers_are_compared(result: Result, rate: Rate) -> None:
    assert first_answers(result) == rate
    assert rate_pair(result) == RatePair(Rate(3, 3), rate)


@pytest.mark.parametrize(
    "result",
    [
        RIGHT._replace(before=None),
        RIGHT._replace(outcome=None),
        WRONG._replace(outcome=Outcome.EDITED),
        WRONG._replace(status="error"),
        WRONG._replace(status="skipped"),
    ],
)
def test_what_is_edited_unmeasured_or_unanswered_is_no_pair(result: Result) -> None:
    assert rate_pair(result) is None
