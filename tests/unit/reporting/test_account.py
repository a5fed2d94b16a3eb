from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_fcall.core import Call, Expectation, ExpectedCall, Json, Operator
from pytest_fcall.core.expectation import json_of_object
from pytest_fcall.core.json_data import DamagedData
from pytest_fcall.reporting.account import (
    AcceptedAccount,
    Account,
    AccountAnswer,
    AnsweredTurn,
    AskedStep,
    ExpectedTurn,
    account_from_json,
    account_to_json,
)

OSLO = Call("find", {"city": "Oslo"})
WHOLE = Account(
    "cases/a.fc.yaml::one",
    (
        AccountAnswer(
            valid=False,
            steps=(AskedStep(({"role": "user", "content": "Oslo?"},), (OSLO,), text="Here."),),
            reasons=(("wrong_value", "calls[0].args.city", "`city` is wrong"),),
            turns=(AnsweredTurn(1, ((0, 0),), 2), AnsweredTurn(0)),
        ),
    ),
    tools=("find",),
    expected=(
        ExpectedTurn(Expectation(stages=((ExpectedCall("find", {"city": Operator("any", ["Bern"])}),),))),
        ExpectedTurn(None, Operator("contains", "Bern")),
    ),
    accepted=AcceptedAccount(
        True,
        (OSLO,),
        (1, 0),
        "2026-11-01",
        "Be brief.",
        "Weather?",
        {"find": {"description": "Finds.", "parameters": {}}},
    ),
    offered="0123",
)


def written(account: Account) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(account_to_json(account), default=json_of_object))
    return found


def test_an_account_is_written_and_read_again() -> None:
    assert account_from_json(written(WHOLE)) == WHOLE


def test_an_account_of_an_earlier_version_is_read() -> None:
    data = written(WHOLE)
    for name in ("expected", "accepted", "offered"):
        del data[name]
    del data["answers"][0]["turns"]

    answer = WHOLE.answers[0]._replace(turns=())
    assert account_from_json(data) == WHOLE._replace(answers=(answer,), expected=(), accepted=None, offered="")


@pytest.mark.parametrize(
    "fields",
    [
        {"expected": [5]},
        {"expected": [{"stages": 5}]},
        {"accepted": {}},
        {"accepted": {"valid": True, "calls": [5]}},
        {"accepted": {"valid": True, "turns": ["1"]}},
        {"accepted": {"valid": True, "tools": []}},
        {"answers": [{"valid": True, "reasons": [], "turns": [{"pairs": []}]}]},
        {"answers": [{"valid": True, "reasons": [], "turns": [{"calls": 1, "pairs": [["a", 0]]}]}]},
        {"offered": 5},
    ],
)
def test_a_damaged_account_is_told(fields: dict[str, Json]) -> None:
    with pytest.raises(DamagedData):
        account_from_json({**written(WHOLE), **fields})


def test_an_expectation_without_end_is_damaged() -> None:
    deep: Json = "x"
    for _ in range(20_000):
        deep = [deep]
    with pytest.raises(DamagedData):
        account_from_json({**written(WHOLE), "expected": [{"answer": deep}]})
