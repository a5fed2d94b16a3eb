from __future__ import annotations

from typing import Any

import pytest

from pytest_fcall.core import Call, CallResult, Expectation, ExpectedCall, Operator
from pytest_fcall.reporting.account import (
    AcceptedAccount,
    Account,
    AccountAnswer,
    AnsweredTurn,
    AskedStep,
    ExpectedTurn,
)
from pytest_fcall.reporting.reports.page.case_detail import compared_turns, turn_data

OSLO, ROME = Call("find", {"city": "Oslo"}), Call("find", {"city": "Rome"})
WRONG_CITY = (("wrong_value", "calls[0].args.city", "`city` is wrong"),)


def expecting(*calls: ExpectedCall) -> ExpectedTurn:
    return ExpectedTurn(Expectation(stages=(calls,)))


def shown(
    calls: tuple[Call, ...],
    expected: tuple[ExpectedTurn, ...] = (),
    reasons: tuple[tuple[str, str, str], ...] = (),
    accepted: AcceptedAccount | None = None,
    turns: tuple[AnsweredTurn, ...] | None = None,
) -> list[dict[str, Any]]:
    pairs = tuple((place, place) for place in range(len(calls)))
    own = (AnsweredTurn(len(calls), pairs),) if turns is None else turns
    answer = AccountAnswer(not reasons, (AskedStep((), calls),), reasons, turns=own)
    account = Account("a", (answer,), expected=expected, accepted=accepted)
    return [turn_data(turn, is_valid=answer.valid) for turn in compared_turns(account, answer)]


def test_what_was_expected_called_and_accepted_stands_side_by_side() -> None:
    (turn,) = shown(
        (ROME,), (expecting(ExpectedCall("find", {"city": "Oslo"})),), WRONG_CITY, AcceptedAccount(True, (OSLO,))
    )
    assert turn == {
        "rows": [["find", "find", "find", 1, [["city", '"Oslo"', '"Rome"', '"Oslo"', 1]], ""]],
        "known": True,
    }


def test_what_is_accepted_and_called_alike_is_written_once() -> None:
    (turn,) = shown((OSLO,), (expecting(ExpectedCall("find", {"city": "Oslo"})),), (), AcceptedAccount(True, (OSLO,)))
    assert turn["rows"] == [["find", "find", "find", 0, [["city", '"Oslo"', '"Oslo"', 0]], ""]]


def test_a_place_inside_an_argument_is_named() -> None:
    call = Call("book", {"legs": [{"to": "Rome"}]})
    reasons = (("wrong_value", "calls[0].args.legs[0].to", "it is wrong"),)
    (turn,) = shown((call,), (expecting(ExpectedCall("book", {"legs": [{"to": "Oslo"}]})),), reasons)
    ((_, _, _, _, ((*_, place),), _),) = turn["rows"]
    assert place == "[0].to"


def test_operators_read_as_on_the_terminal() -> None:
    (turn,) = shown((OSLO,), (expecting(ExpectedCall("find", {"city": Operator("any", ["Oslo", "Bergen"])})),))
    assert turn["rows"][0][4][0][1] == '$any["Oslo", "Bergen"]'


@pytest.mark.parametrize(
    ("expected", "said"), [(Expectation("no_call"), "no call"), (Expectation("any_call"), "any call")]
)
def test_an_expectation_without_calls_is_said_in_words(expected: Expectation, said: str) -> None:
    (turn,) = shown((), (ExpectedTurn(expected),))
    assert turn == {"said": said, "known": True}


def test_a_call_where_none_is_expected_is_wrong_whatever_the_reason_names() -> None:
    (turn,) = shown((OSLO,), (ExpectedTurn(Expectation("no_call")),), (("unexpected_call", "calls", "a call"),))
    assert [row[:4] for row in turn["rows"]] == [["(not expected)", "find", "", 1]]


def test_missing_and_additional_calls_have_rows() -> None:
    expected = expecting(ExpectedCall("find", {"city": "Oslo"}), ExpectedCall("book", {}))
    reasons = (("wrong_count", "calls", "one call is missing"), ("unexpected_call", "calls[1]", "not expected"))
    turns = (AnsweredTurn(2, ((0, 0),)),)
    (turn,) = shown(
        (OSLO, Call("mail", {})), (expected,), reasons, AcceptedAccount(True, (OSLO, Call("pay", {"sum": 3}))), turns
    )
    assert [row[:4] for row in turn["rows"]] == [
        ["find", "find", "find", 0],
        ["book", "", "", 1],
        ["(not expected)", "mail", "", 1],
        ["", "", "pay", 0],
    ]


@pytest.mark.parametrize("valid", [False, True])
def test_calls_with_faulty_results_are_named_as_on_the_terminal(valid: bool) -> None:
    steps = (
        AskedStep((), (OSLO,), (CallResult(error="it took longer than 30 s", fault="timeout"),)),
        AskedStep((), (Call("mail", {}),), (CallResult("sent"),), "I could not find any flights."),
    )
    expected = expecting(ExpectedCall("find", {"city": "Oslo"}), ExpectedCall("book", {}))
    reasons = () if valid else (("no_recovery", "answer", "it says nothing of it"),)
    answer = AccountAnswer(valid, steps, reasons, turns=(AnsweredTurn(2),))
    (turn,) = compared_turns(Account("a", (answer,), expected=(expected,)), answer)
    wrong = 0 if valid else 1
    data: dict[str, Any] = turn_data(turn, is_valid=valid)
    assert [row[:4] for row in data["rows"]] == [
        ["find", "(no sound result)", "", wrong],
        ["book", "", "", wrong],
        ["(faulty result)", "find", "", 0],
        ["(allowed)", "mail", "", 0],
    ]


def test_each_turn_of_a_conversation_has_its_own_calls() -> None:
    expected = (
        expecting(ExpectedCall("find", {"city": "Oslo"})),
        ExpectedTurn(),
        expecting(ExpectedCall("find", None)),
    )
    turns = (AnsweredTurn(1, ((0, 0),)), AnsweredTurn(0), AnsweredTurn(1, ((0, 0),)))
    reasons = (("wrong_value", "turns[0].calls[0].args.city", "`city` is wrong"),)
    found = shown((ROME, OSLO), expected, reasons, AcceptedAccount(True, (OSLO, ROME), (1, 0, 1)), turns)
    assert found[0]["rows"] == [["find", "find", "find", 1, [["city", '"Oslo"', '"Rome"', '"Oslo"', 1]], ""]]
    assert found[1] == {}
    assert found[2]["rows"] == [
        ["find", "find", "find", 0, [["city", "(any value)", '"Oslo"', '"Rome"']], "any arguments"]
    ]


def test_the_wrong_calls_of_all_turns_are_counted_through() -> None:
    answer = AccountAnswer(
        False,
        (AskedStep((), (OSLO, ROME)), AskedStep((), (OSLO,))),
        (("wrong_value", "turns[1].calls[0].args.city", "wrong"),),
        turns=(AnsweredTurn(2), AnsweredTurn(1)),
    )
    turns = compared_turns(Account("a", (answer,)), answer)
    assert [index for turn in turns for index in turn.wrong] == [2]


def test_an_account_of_an_earlier_version_shows_what_was_called() -> None:
    (turn,) = shown((ROME,), (), WRONG_CITY, None, ())
    assert turn == {"rows": [["", "find", "", 1, [["city", "", '"Rome"', "", 1]], ""]]}


def test_a_verdict_without_pairs_is_shown_in_the_order_of_the_calls() -> None:
    expected = expecting(ExpectedCall("find", {"city": "Rome"}), ExpectedCall("find", {"city": "Oslo"}))
    (turn,) = shown((OSLO, ROME), (expected,), (), None, (AnsweredTurn(2),))
    assert [row[4][0][1:3] for row in turn["rows"]] == [['"Rome"', '"Oslo"'], ['"Oslo"', '"Rome"']]


def test_how_often_a_call_may_come_is_said() -> None:
    (turn,) = shown((OSLO,), (expecting(ExpectedCall("find", {"city": "Oslo"}, times=(1, None))),))
    assert turn["rows"][0][5] == "1 to any number of times"
