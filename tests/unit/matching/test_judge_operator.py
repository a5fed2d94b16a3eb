"""`$judge`, decided by whoever is handed over as the judge."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_fcall.core import (
    Call,
    Calls,
    Expectation,
    ExpectedCall,
    Json,
    Operator,
    Pattern,
    Reply,
    Rules,
    Turn,
    Verdict,
)
from pytest_fcall.core.operators import Undecided
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge, judge_turn

POLITE = Operator("judge", "is polite")


def fair(operand: Pattern, options: Mapping[str, Pattern], got: Json) -> str | None:
    if got == "who knows":
        raise Undecided("the judge is uncertain: who knows")
    return None if got == "please" else f"{operand} is not true of it, says the judge: no manners"


def verdict(pattern: Pattern, got: Json) -> Verdict:
    expectation = Expectation(stages=((ExpectedCall("say", {"x": pattern}),),))
    calls = Calls((Call("say", {"x": got}),))
    return judge(Reply(), calls, expectation, MatchContext((), Rules(), {"judge": fair}))


@pytest.mark.parametrize(
    ("pattern", "got", "valid"),
    [
        (POLITE, "please", True),
        (POLITE, "now", False),
        (POLITE, "who knows", False),
        (Operator("not", POLITE), "please", False),
        (Operator("not", POLITE), "now", True),
        (Operator("not", POLITE), "who knows", False),
        (Operator("any", ["now", POLITE]), "now", True),
        (Operator("any", ["never", POLITE]), "who knows", False),
        (Operator("all", [Operator("type", "string"), POLITE]), "please", True),
        ({"a": [POLITE]}, {"a": ["please"]}, True),
        ({"a": [POLITE]}, {"a": ["now"]}, False),
        (Operator("each", POLITE), ["please", "please"], True),
        (Operator("each", POLITE), ["please", "now"], False),
    ],
)
def test_the_judge_is_obeyed_wherever_it_stands(pattern: Pattern, got: Json, valid: bool) -> None:
    assert verdict(pattern, got).valid is valid


def test_what_the_judge_says_is_told_with_the_place() -> None:
    (reason,) = verdict({"a": POLITE}, {"a": "now"}).reasons
    assert (reason.kind, reason.path) == ("wrong_value", "calls[0].args.x.a")
    assert reason.message == "`x.a`: is polite is not true of it, says the judge: no manners"


def test_uncertainty_is_told_as_such() -> None:
    (reason,) = verdict(POLITE, "who knows").reasons
    assert reason.message == "`x` cannot be judged: the judge is uncertain: who knows."


def test_an_answer_is_judged_too() -> None:
    turn = Turn((), Expectation("no_call"), answer=POLITE)
    assert judge_turn(Reply("please"), Calls(), turn, MatchContext((), Rules(), {"judge": fair})).valid
    (reason,) = judge_turn(Reply("now"), Calls(), turn, MatchContext((), Rules(), {"judge": fair})).reasons
    assert (reason.kind, reason.path) == ("wrong_answer", "answer")


def test_an_argument_that_lacks_says_what_was_wanted() -> None:
    expectation = Expectation(stages=((ExpectedCall("say", {"x": POLITE}),),))
    (reason,) = judge(
        Reply(), Calls((Call("say", {}),)), expectation, MatchContext((), Rules(), {"judge": fair})
    ).reasons
    assert reason.message == "`x` is missing, expected something of which this is true: 'is polite'"
