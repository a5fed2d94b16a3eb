"""What the official checker says of calls that it carries out, each row a rule of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import CallResult
from pytest_fcall.matching.bfcl.results import ExpectedResult, ResultRule, check_result, check_results

EXACT, NEAR, FORM = "executable_checker:wrong_result", "executable_checker:wrong_result_real_time", "wrong_result_type"
TYPE = f"executable_checker:{FORM}"

SINGLE: dict[str, tuple[ResultRule, Any, Any, str | None]] = {
    "the same is right": ("exact_match", {"a": [1]}, {"a": [1]}, None),
    "another value is not": ("exact_match", 3, 4, EXACT),
    "Python's equality counts, not the type": ("exact_match", 1, True, None),
    "a whole float is the integer": ("exact_match", 2, 2.0, None),
    "a tuple is a list": ("exact_match", [1, 2], (1, 2), None),
    "one inside is not": ("exact_match", [[1, 2]], [(1, 2)], EXACT),
    "nan is never right": ("exact_match", float("nan"), float("nan"), EXACT),
    "a fifth less is right": ("real_time_match", 100, 80, None),
    "and a fifth more": ("real_time_match", 100, 120.0, None),
    "a little more is not": ("real_time_match", 100, 120.01, NEAR),
    "a little less is not": ("real_time_match", 100, 79.99, NEAR),
    "below zero nothing is right": ("real_time_match", -100, -100, NEAR),
    "zero is right for zero": ("real_time_match", 0, 0.0, None),
    "a boolean is no number": ("real_time_match", 1, True, NEAR),
    "nor is text": ("real_time_match", "1", "1", NEAR),
    "an integer too large for a float breaks it": ("real_time_match", 10**400, 1, "case_error:OverflowError"),
    "the same type is right": ("structural_match", "a", "b", None),
    "another is not": ("structural_match", 1, 1.0, TYPE),
    "a boolean is no integer": ("structural_match", 1, True, TYPE),
    "null is like null only": ("structural_match", None, 0, TYPE),
    "the same keys are right whatever they hold": ("structural_match", {"a": 1}, {"a": ["b"]}, None),
    "a missing key is not": ("structural_match", {"a": 1, "b": 1}, {"a": 1}, f"{TYPE}:dict_key_not_found"),
    "it is told before one too many": ("structural_match", {"a": 1}, {"b": 1}, f"{TYPE}:dict_key_not_found"),
    "one too many is not": ("structural_match", {"a": 1}, {"a": 1, "b": 1}, f"{TYPE}:dict_extra_key"),
    "a list as long is right whatever it holds": ("structural_match", [1, 2], ["a", None], None),
    "a longer one is not": ("structural_match", [1], [1, 1], f"{TYPE}:list_length"),
}


@pytest.mark.parametrize(("rule", "wanted", "got", "error"), SINGLE.values(), ids=SINGLE)
def test_a_result_is_judged_as_by_the_official_checker(
    rule: ResultRule, wanted: Any, got: Any, error: str | None
) -> None:
    ruling = check_result(ExpectedResult(wanted, rule), CallResult(got))
    assert (ruling.valid, ruling.error_type) == (error is None, error)
    assert check_results([ExpectedResult(wanted, rule)], [CallResult(got)], several=False) == ruling


@pytest.mark.parametrize(
    ("rule", "wanted", "got", "sentence"),
    [
        ("exact_match", 3, 4, "the result is 4, not 3"),
        ("real_time_match", 100, 121, "the result is 121, more than 20 % from 100"),
        ("real_time_match", "1", 1, "1 or '1' is not a number"),
        ("structural_match", 1, "a", "the result is 'a', not a value of the type of 1"),
        ("structural_match", {"a": 1}, {}, "the key 'a' is missing"),
    ],
)
def test_a_wrong_result_is_told_beside_the_right_one(rule: ResultRule, wanted: Any, got: Any, sentence: str) -> None:
    assert check_result(ExpectedResult(wanted, rule), CallResult(got)).errors == (sentence,)


@pytest.mark.parametrize("rule", ["exact_match", "real_time_match", "structural_match"])
def test_a_call_that_failed_is_wrong_by_every_rule(rule: ResultRule) -> None:
    ruling = check_result(ExpectedResult(None, rule), CallResult(error="no such city"))
    assert ruling.error_type == "executable_checker:execution_error"
    assert "no such city" in ruling.errors[0]


def exact(*values: Any) -> Sequence[ExpectedResult]:
    return [ExpectedResult(value, "exact_match") for value in values]


def gave(*values: Any) -> Sequence[CallResult]:
    return [CallResult(value) for value in values]


def test_one_call_is_asked_for_and_no_other_number_of_them() -> None:
    for results in (gave(), gave(1, 1)):
        ruling = check_results(exact(1), results, several=False)
        assert ruling.error_type == "simple_exec_checker:wrong_count"


def test_several_results_may_come_in_any_order() -> None:
    ruling = check_results(exact(1, 2), gave(2, 1), several=True)
    assert (ruling.valid, ruling.pairs) == (True, ((0, 1), (1, 0)))


def test_as_many_results_as_expected_must_come() -> None:
    for results in (gave(1), gave(1, 2, 3)):
        assert check_results(exact(1, 2), results, several=True).error_type == "value_error:exec_result_count"


def test_the_first_result_that_fits_is_taken_even_where_another_call_needs_it() -> None:
    wanted = [ExpectedResult(100, "real_time_match"), ExpectedResult(100, "exact_match")]
    ruling = check_results(wanted, gave(100, 90), several=True)
    assert ruling.error_type == "executable_checker:cannot_find_match"
    assert ruling.errors == ("none of the results of the calls [1] is the one expected of call 1",)
    assert ruling.pairs == ((0, 0),)
    assert [(index, each.error_type) for index, each in ruling.rejected] == [(1, EXACT)]


@given(st.permutations([1, "a", None, [2]]))
def test_results_that_differ_are_right_in_every_order(values: list[Any]) -> None:
    assert check_results(exact(1, "a", None, [2]), gave(*values), several=True).valid
