"""Which expected call each new call of a turn is."""

from __future__ import annotations

from typing import Any

from pytest_fcall.core import CallResult, Reply, Rules
from pytest_fcall.core.result_fault import ResultFault
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.turn_follower import RecoveryFollower, TurnFollower
from tests.unit.matching.language import TOOLS, expectation, made

PARIS: dict[str, Any] = {"get_weather": {"city": "Paris"}}
TABLES: dict[str, Any] = {"list_tables": {}}


def follower(expected: Any) -> TurnFollower:
    return TurnFollower(expectation(expected), MatchContext(TOOLS, Rules()))


def test_a_turn_with_an_unexpected_call_is_never_complete() -> None:
    turn = follower([PARIS])
    turn.follow(Reply(), made([PARIS]))
    assert turn.is_complete
    assert [call.expected for call in turn.follow(Reply(), made([TABLES]))] == [False]
    assert not turn.is_complete


def test_a_turn_with_a_forbidden_call_is_never_complete_although_others_are_allowed() -> None:
    turn = follower({"calls": [PARIS], "extra": "allow", "never": ["list_tables"]})
    assert [call.forbidden for call in turn.follow(Reply(), made([TABLES]))] == [True]
    turn.follow(Reply(), made([PARIS]))
    assert not turn.is_complete


def test_a_turn_for_any_call_is_complete_with_the_first() -> None:
    turn = follower("any_call")
    assert not turn.is_complete
    turn.follow(Reply(), made([TABLES]))
    assert turn.is_complete


def test_an_expected_call_counts_although_its_tool_may_be_called_instead_of_one_that_failed() -> None:
    fault = ResultFault("error", "error", ("get_weather",), other_tools=("list_tables",))
    turn = RecoveryFollower(lambda: follower([PARIS, TABLES]), fault)
    turn.follow(Reply(), made([PARIS]))
    turn.record_results([CallResult(fault="error")])
    assert [call.expected for call in turn.follow(Reply(), made([PARIS, TABLES]))] == [True, True]
    turn.record_results([CallResult(), CallResult()])
    assert turn.is_complete


def test_a_call_that_comes_too_often_does_not_stand_for_another() -> None:
    turn = follower([PARIS, {"get_weather": {"city": {"$any": ["Paris", "Rome"]}}}, TABLES])
    expected = [call.expected for call in turn.follow(Reply(), made([PARIS, PARIS, PARIS]))]
    assert expected == [True, True, False]
    turn.follow(Reply(), made([TABLES]))
    assert not turn.is_complete
