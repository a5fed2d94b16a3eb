from __future__ import annotations

import json

import pytest

from pytest_fcall.core import Expectation, ExpectedCall, Json, Operator
from pytest_fcall.core.expectation import expectation_from_json, expectation_to_json, json_of_object
from pytest_fcall.core.json_data import DamagedData


def written(expectation: Expectation) -> dict[str, Json]:
    found: dict[str, Json] = json.loads(json.dumps(expectation_to_json(expectation), default=json_of_object))
    return found


@pytest.mark.parametrize(
    "expectation",
    [
        Expectation("no_call"),
        Expectation("any_call"),
        Expectation(
            stages=((ExpectedCall("find", {"city": "Oslo", "tags": ["a", {"b": None}]}),), (ExpectedCall("book"),))
        ),
        Expectation(
            stages=((ExpectedCall("find", None, open=True, times=(0, None), result={"id": 1}),),), extra="allow"
        ),
        Expectation(
            stages=(
                (
                    ExpectedCall(
                        "find",
                        {
                            "city": Operator("any", ["Oslo", Operator("regex", "B.*")]),
                            "price": Operator("approx", 3, {"within": "10%"}),
                            "filter": Operator("literal", {"$gt": 5}),
                            "unit": Operator("ignore", True),
                        },
                    ),
                ),
            )
        ),
        Expectation("any_of", alternatives=(Expectation("no_call"), Expectation(stages=((ExpectedCall("find"),),)))),
    ],
)
def test_what_is_expected_is_written_and_read_again(expectation: Expectation) -> None:
    assert expectation_from_json(written(expectation)) == expectation


def test_operators_are_written_as_in_a_case_file() -> None:
    call = ExpectedCall("find", {"price": Operator("approx", 3, {"within": "10%"})})

    assert written(Expectation(stages=((call,),))) == {
        "stages": [[{"tool": "find", "arguments": {"price": {"$approx": 3, "within": "10%"}}}]]
    }


@pytest.mark.parametrize(
    "damaged",
    [
        {"kind": "nonsense"},
        {"kind": 5},
        {"stages": 5},
        {"stages": [5]},
        {"stages": [[5]]},
        {"stages": [[{"arguments": {}}]]},
        {"stages": [[{"tool": "a", "arguments": []}]]},
        {"stages": [[{"tool": "a", "times": [1]}]]},
        {"kind": "any_of", "alternatives": [5]},
    ],
)
def test_other_data_is_damaged(damaged: dict[str, Json]) -> None:
    with pytest.raises(DamagedData):
        expectation_from_json(damaged)
