"""Laws that hold for any calls."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Verdict
from tests.unit.matching.language import findings, judged

cities = st.sampled_from(["Paris", "Rome", "Oslo", "paris"])
calls = st.one_of(
    st.fixed_dictionaries(
        {"get_weather": st.fixed_dictionaries({"city": cities}, optional={"days": st.integers(0, 3)})}
    ),
    st.fixed_dictionaries({"any": st.fixed_dictionaries({}, optional={"x": st.integers(0, 3), "y": cities})}),
    st.just({"list_tables": dict[str, Any]()}),
    st.just({"delete_db": dict[str, Any]()}),
)
values = st.one_of(
    st.integers(0, 3),
    cities,
    st.just({"$ignore": True}),
    st.just({"$type": "integer"}),
    st.just({"$any": [1, "Rome"]}),
    st.just({"$optional": 2}),
)
expected_calls = st.one_of(
    calls,
    st.fixed_dictionaries({"any": st.fixed_dictionaries({}, optional={"x": values, "y": values})}),
    st.just({"any": {"$ignore": True}, "times": [0, 2]}),
    st.just({"any": {"x": 1}, "times": [2, 2]}),
    st.just({"any": {"x": 2}, "times": [3, None]}),
    st.just({"get_weather": {"city": {"$regex": "[PR].*"}}, "args": "open", "times": [1, None]}),
)
lists_of_calls = st.lists(calls, max_size=5)
expectations = st.fixed_dictionaries(
    {"calls": st.lists(expected_calls, max_size=4)},
    optional={
        "extra": st.just("allow"),
        "allow": st.just(["list_*", {"any": {"x": 1}}]),
        "never": st.just(["delete_*"]),
    },
)
any_expectations = st.one_of(
    st.sampled_from(["no_call", "any_call"]),
    expectations,
    st.lists(expectations, min_size=1, max_size=3).map(lambda alternatives: {"any_of": alternatives}),
)


def kinds(verdict: Verdict) -> list[str]:
    return sorted(reason.kind for reason in verdict.reasons)


@given(lists_of_calls.flatmap(lambda made: st.tuples(st.just(made), st.permutations(made))), any_expectations)
def test_reordering_parallel_calls_never_changes_the_verdict(orders: tuple[Any, Any], expected: Any) -> None:
    first, second = (judged(made, expected) for made in orders)
    assert first.valid is second.valid
    assert kinds(first) == kinds(second)


@given(lists_of_calls, st.permutations(range(3)), st.lists(expectations, min_size=3, max_size=3))
def test_the_order_of_alternatives_never_matters(made: Any, order: list[int], alternatives: list[Any]) -> None:
    first = judged(made, {"any_of": alternatives})
    second = judged(made, {"any_of": [alternatives[each] for each in order]})
    assert findings(first) == findings(second)


@given(lists_of_calls.filter(len), expectations, st.data())
def test_an_invented_argument_always_fails(made: list[Any], expected: Any, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(made) - 1))
    ((tool, arguments),) = made[index].items()
    made = [*made[:index], {tool: {**arguments, "invented": 1}}, *made[index + 1 :]]
    assert not judged(made, expected).valid


@given(lists_of_calls)
def test_calls_that_are_expected_as_they_were_made_are_right_if_their_schema_takes_them(made: list[Any]) -> None:
    kinds = {reason.kind for reason in judged(made, {"calls": made}).reasons}
    assert kinds <= {"schema"}


@given(lists_of_calls, expectations)
def test_an_expectation_without_a_verdict_of_wrong_has_everyone_paired(made: list[Any], expected: Any) -> None:
    verdict = judged(made, expected)
    if verdict.valid:
        served = [place for place, _ in verdict.pairs]
        assert all(served.count(place) >= each.get("times", [1])[0] for place, each in enumerate(expected["calls"]))
        assert len({index for _, index in verdict.pairs}) == len(verdict.pairs)


@given(lists_of_calls, st.lists(expected_calls, max_size=4))
def test_what_is_right_in_strict_order_is_right_in_any(made: list[Any], expected: list[Any]) -> None:
    if judged(made, {"calls": expected, "order": "strict"}).valid:
        assert judged(made, {"calls": expected}).valid


@given(lists_of_calls, any_expectations)
def test_the_same_reply_always_gets_the_same_verdict(made: list[Any], expected: Any) -> None:
    assert judged(made, expected) == judged(made, expected)


@given(lists_of_calls, expectations)
def test_allowing_extra_calls_never_makes_a_right_reply_wrong(made: list[Any], expected: Any) -> None:
    if judged(made, expected).valid:
        assert judged(made, {**expected, "extra": "allow"}).valid


@given(lists_of_calls, expectations)
def test_one_alternative_is_judged_like_the_expectation_alone(made: list[Any], expected: Any) -> None:
    assert findings(judged(made, {"any_of": [expected]})) == findings(judged(made, expected))


@given(lists_of_calls, expectations, st.lists(expectations, max_size=2))
def test_a_further_alternative_never_makes_a_right_reply_wrong(made: list[Any], expected: Any, more: list[Any]) -> None:
    if judged(made, expected).valid:
        assert judged(made, {"any_of": [*more, expected]}).valid


@given(lists_of_calls, expectations)
def test_a_call_that_must_never_be_made_fails_whatever_else_is_said(made: list[Any], expected: Any) -> None:
    verdict = judged([*made, {"delete_db": {}}], {**expected, "extra": "allow", "allow": ["*"], "never": ["delete_*"]})
    assert "forbidden_call" in kinds(verdict)


@given(lists_of_calls, expectations)
def test_no_reply_is_right_once_a_call_is_missing_that_nothing_else_could_serve(made: list[Any], expected: Any) -> None:
    unique = {"note": {"text": "only here"}}
    assert not judged(made, {**expected, "calls": [*expected["calls"], unique]}).valid


@given(st.dictionaries(st.sampled_from(["city", "unit", "days", "note"]), values | st.none() | st.booleans()))
def test_what_the_schema_forbids_is_wrong_under_every_operator(arguments: dict[str, Any]) -> None:
    made = [{"get_weather": arguments}]
    forbidden = findings(judged(made, [{"get_weather": {"$ignore": True}}]))
    free = {name: {"$ignore": True} for name in arguments}
    named = {name: {"$any": [value, {"$ignore": True}]} for name, value in arguments.items()}
    for expected in (free, named):
        assert set(forbidden) <= set(findings(judged(made, [{"get_weather": expected, "args": "open"}])))
