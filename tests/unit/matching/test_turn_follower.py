"""Which expected call each new call of a turn is."""

from __future__ import annotations

from typing import Any

from pytest_fcall.core import Reply, Rules
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.turn_follower import TurnFollower
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


def test_a_turn_for_any_call_is_complete_with_the_first() -> None:
    turn = follower("any_call")
    assert not turn.is_complete
    turn.follow(Reply(), made([TABLES]))
    assert turn.is_complete


def test_a_call_that_comes_too_often_does_not_stand_for_another() -> None:
    turn = follower([PARIS, {"get_weather": {"city": {"$any": ["Paris", "Rome"]}}}, TABLES])
    expected = [call.expected for call in turn.follow(Reply(), made([PARIS, PARIS, PARIS]))]
    assert expected == [True, True, False]
    turn.follow(Reply(), made([TABLES]))
    assert not turn.is_complete
