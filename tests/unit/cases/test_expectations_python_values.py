"""The language of `expect:` as Python values."""

from __future__ import annotations

from datetime import date

import pytest

from pytest_fcall.cases.expectations import ExpectationError, read_expectation
from pytest_fcall.core import Expectation, ExpectedCall, Operator, Tool

_WEATHER = Tool(
    "get_weather",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def test_lists_and_tuples_of_calls_are_read_as_in_a_case_file() -> None:
    found = read_expectation(({"get_weather": {"city": {"$any": ("Oslo", "OSL")}}},), [_WEATHER])
    call = ExpectedCall("get_weather", {"city": Operator("any", ["Oslo", "OSL"])})
    assert found == Expectation(stages=((call,),))


def test_texts_stay_texts_and_braces_stay_braces() -> None:
    found = read_expectation([{"f": {"a": "7", "b": "true", "c": "{now}", "d": "null", "e": "<<", "<<": 1}}])
    assert found.stages[0][0].arguments == {"a": "7", "b": "true", "c": "{now}", "d": "null", "e": "<<", "<<": 1}


def test_values_keep_their_types() -> None:
    given = {"a": 7, "b": 7.0, "c": True, "d": None, "e": "x\ud800\0", "f": [1, {"g": -0.5}], "h": 10**300, "i": 1e-320}
    found = read_expectation([{"f": given}]).stages[0][0].arguments
    assert found == given
    assert found is not None
    assert [type(found[name]) for name in given] == [type(value) for value in given.values()]


@pytest.mark.parametrize("word", ["no_call", "any_call"])
def test_words(word: str) -> None:
    assert read_expectation(word).kind == word


def test_without_tools_no_name_is_unknown() -> None:
    assert read_expectation([{"anything": {"at": "all"}}]).stages


def test_with_tools_names_and_values_are_checked_and_all_mistakes_told() -> None:
    with pytest.raises(ExpectationError) as error:
        read_expectation([{"get_wether": {}}, {"get_weather": {"city": 7}}], [_WEATHER])
    assert [fault.code for fault in error.value.faults] == ["unknown-tool", "forbidden-value"]
    assert "did you mean `get_weather`?" in str(error.value)


def test_operators_of_other_packages_are_known_by_name() -> None:
    found = read_expectation([{"f": {"a": {"$iban": "DE"}}}], comparators=["iban"])
    assert found.stages[0][0].arguments == {"a": Operator("iban", "DE")}


_CYCLE: list[object] = []
_CYCLE.append(_CYCLE)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(None, id="nothing"),
        pytest.param(7, id="number"),
        pytest.param(date(2026, 1, 1), id="date"),
        pytest.param([{"f": {"a": {1, 2}}}], id="set"),
        pytest.param([{"f": {1: 2}}], id="key that is no text"),
        pytest.param([{"f": {"a": 10**5000}}], id="huge number"),
        pytest.param([{"f": {"a": float("nan")}}], id="nan"),
        pytest.param([{"f": {"a": float("inf")}}], id="infinity"),
        pytest.param([{"f": {"a": b"bytes"}}], id="bytes"),
        pytest.param([{"f": {"a": _CYCLE}}], id="cycle"),
        pytest.param([["f"]], id="list in a list"),
        pytest.param("maybe", id="word"),
    ],
)
def test_whatever_is_no_expectation_is_told_in_words(data: object) -> None:
    with pytest.raises(ExpectationError) as error:
        read_expectation(data)
    assert error.value.faults
    assert "Traceback" not in str(error.value)


def test_an_unknown_key_is_told_without_a_place_in_a_file() -> None:
    with pytest.raises(ExpectationError) as error:
        read_expectation({"calls": [], "oder": None})
    assert "has no key `oder` (did you mean `order`?)" in str(error.value)
