from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import CallResult, Json, MatchRule, Operator, Reason, Rules
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.results import judge_state, state_changes
from tests.unit.matching.language import pattern

STATE: Json = {
    "orders": [{"id": 7, "status": "open", "lines": [{"sku": "A", "count": 2}]}],
    "balance": 12.5,
    "open": True,
    "owner": None,
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(), inside, max_size=3),
    max_leaves=12,
)


def judged(expected: Any, state: Json = STATE, **rules: Any) -> tuple[Reason, ...]:
    return judge_state(
        {key: pattern(value) for key, value in expected.items()}, CallResult(state), MatchContext((), Rules(**rules))
    )


@pytest.mark.parametrize(
    "expected",
    [
        {},
        {"balance": 12.5},
        {"owner": None, "open": True},
        {"orders": [{"id": 7, "status": "open", "lines": [{"sku": "A", "count": 2}]}]},
        {"orders": [{"$subset": {"status": "open"}}], "balance": {"$gt": 10}},
        {"orders": {"$each": {"$subset": {"id": {"$type": "integer"}}}}},
        {"credit": {"$optional": 3}},
    ],
)
def test_the_attributes_that_are_named_count_and_others_are_free(expected: Any) -> None:
    assert judged(expected) == ()


@pytest.mark.parametrize(
    ("expected", "path", "words"),
    [
        ({"orders": [{"$subset": {"status": "sent"}}]}, "state.orders[0].status", "is 'open', expected 'sent'"),
        ({"orders": [{"id": 7, "status": "open"}]}, "state.orders[0].lines", "not expected"),
        ({"orders": []}, "state.orders", "its length is 1, not 0"),
        ({"open": 1}, "state.open", "is true (a boolean), expected 1 (an integer)"),
        ({"owner": "Ana"}, "state.owner", "is null, expected 'Ana'"),
        ({"balance": {"$lt": 12}}, "state.balance", "expected a number less than 12"),
        ({"ballance": 12.5}, "state.ballance", "is missing, expected 12.5; did you mean `balance`?"),
        ({"orders": [{"$subset": {"Status": "open"}}]}, "state.orders[0].Status", "did you mean `status`?"),
        ({"completely_other": 1}, "state.completely_other", "is missing, expected 1"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(expected: Any, path: str, words: str) -> None:
    (reason,) = judged(expected)
    assert (reason.kind, reason.path) == ("wrong_state", path)
    assert reason.message.endswith(words)


def test_rules_for_strings_count_and_rules_for_arguments_do_not() -> None:
    ignore = MatchRule("*", Operator("ignore", True))
    assert judged({"owner": "ana"}, {"owner": "Ana"}, strings="relaxed") == ()
    assert judged({"owner": "ana"}, {"owner": "Ana"}, match=(ignore,)) != ()


def test_a_state_that_cannot_be_read_is_wrong_and_says_why() -> None:
    (reason,) = judge_state({"x": 1}, CallResult(error="the worker was ended after 5 s"), MatchContext(()))
    assert (reason.kind, reason.path) == ("wrong_state", "state")
    assert "ended after 5 s" in reason.message


def test_a_state_without_attributes_is_wrong() -> None:
    (reason,) = judged({"x": 1}, [1])
    assert (reason.kind, reason.path) == ("wrong_state", "state")


def test_a_key_missing_in_json_inside_the_state_has_no_suggestion() -> None:
    (reason,) = judged({"page": {"$json": {"titel": 1}}}, {"page": '{"title": 1}'})[:1]
    assert reason.path == "state.page.titel"
    assert "did you mean" not in reason.message


def test_an_expectation_nested_too_deeply_is_no_crash() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    (reason,) = judge_state({"x": deep}, CallResult({"x": deep}), MatchContext(()))
    assert "nested too deeply" in reason.message


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_every_state_is_what_it_is(state: dict[str, Any]) -> None:
    assert judge_state(state, CallResult(state), MatchContext(())) == ()


@given(st.dictionaries(st.text(), JSON, min_size=1, max_size=4), st.data())
def test_a_state_with_one_attribute_changed_or_gone_is_wrong_there(state: dict[str, Any], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(state)))
    for changed in ({**state, name: {"another": state[name]}}, {key: state[key] for key in state if key != name}):
        reasons = judge_state(state, CallResult(changed), MatchContext(()))
        assert reasons
        assert {reason.kind for reason in reasons} == {"wrong_state"}


@pytest.mark.parametrize(
    ("expected", "lines"),
    [
        ({"balance": 12.5, "open": True}, []),
        (
            {"balance": 7, "owner": "Ana"},
            ["state.balance: 7 → 12.5 (type int → float)", "state.owner: 'Ana' → null (type str → null)"],
        ),
        (
            {"orders": [{"id": 7, "status": "sent", "lines": []}]},
            [
                'state.orders[0].lines[0]: {"count": 2, "sku": "A"} is new',
                "state.orders[0].status: 'sent' → 'open'",
            ],
        ),
        ({"credit": 3}, ["state.credit: 3 was removed"]),
        ({"balance": {"$gt": 100}, "orders": [{"$subset": {"id": 8}}]}, []),
    ],
)
def test_the_difference_says_what_became_of_the_attributes_expected_outright(expected: Any, lines: list[str]) -> None:
    assert state_changes({key: pattern(value) for key, value in expected.items()}, STATE) == lines


@pytest.mark.parametrize("state", [None, [1], "text"])
def test_what_is_no_state_differs_in_nothing_that_could_be_named(state: Json) -> None:
    assert state_changes({"x": 1}, state) == []


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_a_state_does_not_differ_from_itself(state: dict[str, Any]) -> None:
    assert state_changes(state, state) == []
