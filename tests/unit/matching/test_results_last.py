from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_fcall.core import CallResult, Json, Operator, Reason
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.results import judge_last_result
from tests.unit.matching.language import pattern


def judged(expected: Any, *results: Json) -> tuple[Reason, ...]:
    return of(expected, [CallResult(result) for result in results])


def of(expected: Any, results: Sequence[CallResult]) -> tuple[Reason, ...]:
    return judge_last_result(pattern(expected), results, MatchContext(()))


@pytest.mark.parametrize(
    ("expected", "result"),
    [
        (3, 3),
        ({"price": 90, "seats": ["1A"]}, {"price": 90, "seats": ["1A"]}),
        ({"$approx": 100, "within": "20%"}, 81.0),
        ({"$subset": {"price": {"$lt": 100}}}, {"price": 90, "id": "F7"}),
        ({"$literal": None}, None),
    ],
)
def test_the_last_result_is_compared_with_all_that_values_can_be(expected: Any, result: Json) -> None:
    assert judged(expected, "an earlier one", result) == ()


@pytest.mark.parametrize(
    ("expected", "result", "path", "words"),
    [
        (3, 3.5, "calls[1].result", "`calls[1].result` is 3.5, expected 3"),
        (1, True, "calls[1].result", "is true (a boolean), expected 1 (an integer)"),
        ({"price": 90}, {"price": 91}, "calls[1].result.price", "is 91, expected 90"),
        ({"price": 90}, {}, "calls[1].result.price", "is missing, expected 90"),
        ({"$approx": 100, "within": "20%"}, 79, "calls[1].result", "is 79, expected about 100 (within 20%)"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(expected: Any, result: Json, path: str, words: str) -> None:
    (reason,) = judged(expected, expected, result)
    assert (reason.kind, reason.path) == ("wrong_result", path)
    assert reason.message.endswith(words)


def test_a_call_that_failed_gave_nothing_whatever_is_expected() -> None:
    (reason,) = of({"$ignore": True}, [CallResult("an earlier one"), CallResult(error="503 try again")])
    assert (reason.kind, reason.path) == ("wrong_result", "calls[1].result")
    assert reason.message == "calls[1] failed: '503 try again', expected to return anything, or nothing"


def test_without_any_call_there_is_no_result() -> None:
    (reason,) = judged(3)
    assert (reason.kind, reason.path) == ("wrong_result", "calls")
    assert reason.message == "No call was executed, expected one that returns 3"


def test_an_operator_that_cannot_be_decided_never_counts_as_right() -> None:
    (reason,) = judge_last_result(Operator("nobody_has_this", 1), [CallResult(1)], MatchContext(()))
    assert "no plugin in this run provides" in reason.message
