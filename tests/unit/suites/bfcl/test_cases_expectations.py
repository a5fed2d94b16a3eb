from __future__ import annotations

import pytest

from pytest_fcall.core import ExpectedCall, Json, Operator
from pytest_fcall.core.operators import Pattern
from tests.unit.suites.bfcl.rows import case, decoded, forecast, verdicts


@pytest.mark.parametrize(
    ("options", "pattern"),
    [
        pytest.param([3], 3, id="one_alternative_is_the_value"),
        pytest.param([3, 4], Operator("any", [3, 4]), id="several_are_any_of_them"),
        pytest.param(["", 3], Operator("optional", 3), id="the_empty_text_says_that_it_may_be_left_out"),
        pytest.param(["", 3, 4], Operator("optional", Operator("any", [3, 4])), id="both"),
        pytest.param([""], Operator("optional", Operator("any", [])), id="it_must_be_left_out"),
        pytest.param([[1, 2]], [1, 2], id="lists_are_plain"),
        pytest.param(
            [{"street": ["Main St", ""]}], {"street": Operator("optional", "Main St")}, id="objects_hold_alternatives"
        ),
        pytest.param([[{"a": [1, 2]}]], [{"a": Operator("any", [1, 2])}], id="objects_in_lists_do_too"),
        pytest.param([{"a": [{"b": [1]}]}], {"a": {"b": [1]}}, id="deeper_down_all_is_plain"),
        pytest.param([], Operator("literal", []), id="no_alternatives_at_all_are_an_empty_list"),
        pytest.param([{"a": 1}], {"a": Operator("literal", 1)}, id="a_key_without_its_list_is_taken_as_it_stands"),
    ],
)
def test_alternatives_become_patterns(options: Json, pattern: Pattern) -> None:
    assert argument(case(forecast(city=["Oslo"], days=options))) == pattern


def argument(found: object) -> Pattern:
    from pytest_fcall.suites.bfcl.cases import BfclCase

    assert isinstance(found, BfclCase)
    ((call,),) = found.expect.stages
    assert isinstance(call, ExpectedCall)
    assert call.arguments is not None
    return call.arguments["days"]


def test_the_empty_text_is_a_value_where_one_must_be_given() -> None:
    must = case(forecast(city=[""]))
    assert verdicts(must, decoded(forecast(city=""))) == (True, True)
    assert verdicts(must, decoded(forecast())) == (False, False)


def test_an_argument_that_the_tool_does_not_know_cannot_be_asked_for() -> None:
    strange = case(forecast(city=["Oslo"], mood=["good"]))
    assert verdicts(strange, decoded(forecast(city="Oslo"))) == (False, True)
    assert verdicts(strange, decoded(forecast(city="Oslo", mood="good"))) == (False, False)


@pytest.mark.parametrize(
    ("category", "kind"),
    [("irrelevance", "no_call"), ("live_irrelevance", "no_call"), ("live_relevance", "any_call")],
)
def test_where_calling_is_all_that_counts(category: str, kind: str) -> None:
    assert case(category=category).expect.kind == kind
