"""Whatever a model or a case says, there is a verdict, soon."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import OPERATORS, Call, Calls, Expectation, ExpectedCall, MatchRule, Operator, Reply, Rules, Tool
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge
from tests.unit.matching.language import TOOLS, findings, judged

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=8),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=5), inside, max_size=4),
    max_leaves=12,
)
patterns = st.recursive(
    json_values,
    lambda inside: st.builds(
        Operator,
        st.sampled_from([*OPERATORS, "mine"]),
        inside | st.lists(inside, max_size=3),
        st.dictionaries(st.sampled_from(["within", "to"]), inside, max_size=1),
    ),
    max_leaves=6,
)


def mine(operand: object, options: Mapping[str, object], got: object) -> str | None:
    return None if operand == got else "other"


@given(patterns, json_values)
def test_any_value_against_any_pattern_gives_a_verdict(pattern: Any, got: Any) -> None:
    expected = Expectation(stages=((ExpectedCall("any", {"x": pattern}),),))
    verdict = judge(Reply(), Calls((Call("any", {"x": got}),)), expected, MatchContext(TOOLS, Rules(), {"mine": mine}))
    assert verdict.valid is not bool(verdict.reasons)


@given(st.dictionaries(st.text(st.characters(codec=None), max_size=8), json_values, max_size=4))
def test_any_arguments_of_any_tool_give_a_verdict(arguments: Any) -> None:
    for tool in ("get_weather", "book", "note", "no such tool", "\ud800"):
        verdict = judged([{tool: arguments}], [{"get_weather": {"city": "Paris"}}])
        assert not verdict.valid or (tool, arguments) == ("get_weather", {"city": "Paris"})


MEGABYTE = "a" * 1_000_000

# What is not linear takes hours, not seconds; how long it does take is for the benchmarks.
pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (MEGABYTE, "b"),
        (MEGABYTE, {"$text": "b"}),
        (MEGABYTE, {"$contains": "b"}),
        (MEGABYTE, {"$regex": "(a+)+b"}),
        (MEGABYTE, {"$date": "2026-11-22"}),
        (MEGABYTE, {"$datetime": "2026-11-22T10:00"}),
        ("[" * 1_000_000, {"$json": []}),
        ("9" * 1_000_000, {"$json": 9}),
        ("\ud800" * 1_000_000, {"$text": "b"}),
        ("\u0300" * 100_000, "b"),
        ([1] * 20_000, {"$unordered": [1, 2]}),
        ([1] * 20_000, {"$subset": [1, 2, 3]}),
        ([1] * 20_000, {"$each": 1}),
        ([1] * 20_000, {"$contains": 2}),
        ({str(n): n for n in range(20_000)}, {"a": 1}),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_huge_values_are_judged_in_good_time(got: Any, expected: Any) -> None:
    verdict = judged([{"any": {"x": got}}], [{"any": {"x": expected}}])
    assert verdict.valid is (expected == {"$each": 1})


@pytest.mark.parametrize("glob", ["*a*a*a*a*a*a*b", "a*"])
def test_a_tool_name_of_a_megabyte_is_judged_in_good_time(glob: str) -> None:
    verdict = judged([{MEGABYTE: {}}], {"calls": [], "allow": [glob]})
    assert not verdict.valid
    assert len(verdict.reasons[0].message) < 400


def test_a_flood_of_calls_in_groups_is_judged_in_good_time() -> None:
    group = {"then": [{"any": {"$ignore": True}, "times": [1, None]}]}
    made = [{"any": {"x": number}} for number in range(250)] + [{"delete_db": {}}]
    verdict = judged(made, [group] * 5)
    assert findings(verdict) == ["unexpected_call calls[250]"]


def test_lists_in_lists_are_judged_in_good_time() -> None:
    expected: Any = 0
    got: Any = 1
    for _ in range(10):
        expected, got = [expected, expected], [got, got]
    verdict = judged([{"any": {"x": got}}], [{"any": {"x": expected}}])
    assert len(verdict.reasons) == 1024


@pytest.mark.parametrize("clock", [None, "9999-12-31T12:00:00+00:00"])
def test_a_span_beyond_the_calendar_is_undecided(clock: str | None) -> None:
    rules = Rules(now=None if clock is None else datetime.fromisoformat(clock))
    span = {"$datetime": {"day": "9999-12-31", "from": "22:00", "to": "02:00"}}
    verdict = judged([{"any": {"x": "9999-12-31T23:00"}}], [{"any": {"x": span}}], rules=rules)
    assert "beyond the calendar" in verdict.reasons[0].message


def test_a_pattern_that_nests_deeply_is_judged() -> None:
    pattern: Any = 1
    for _ in range(5_000):
        pattern = Operator("not", pattern)
    expected = Expectation(stages=((ExpectedCall("any", {"x": pattern}),),))
    verdict = judge(Reply(), Calls((Call("any", {"x": 1}),)), expected, MatchContext(TOOLS))
    (reason,) = verdict.reasons
    assert not verdict.valid
    assert reason.message == "the arguments cannot be judged: the expected value is nested too deeply."


def test_a_value_that_nests_deeply_is_judged() -> None:
    value: Any = 1
    for _ in range(5_000):
        value = [value]
    assert not judged([{"any": {"x": value}}], [{"any": {"x": [1]}}], tools=()).valid


def test_a_default_that_does_not_fit_does_no_harm() -> None:
    tool = Tool("f", parameters={"type": "object", "properties": {"x": {"type": "integer", "default": "no"}}})
    assert judged([{"f": {}}], ["f"], tools=[tool]).valid


def test_a_broken_schema_is_noted_and_the_rest_is_judged() -> None:
    tool = Tool("f", parameters={"type": "object", "properties": {"x": {"type": 3}}})
    verdict = judged([{"f": {"x": 1}}], [{"f": {"x": 2}}], tools=[tool])
    assert findings(verdict) == ["wrong_value calls[0].args.x"]
    assert "broken" in verdict.notes[0]


def test_notes_of_decoding_stand_beside_the_verdict() -> None:
    calls = Calls((Call("list_tables", {}),), notes=("a key stood twice",))
    verdict = judge(Reply(), calls, Expectation("any_call"), MatchContext(TOOLS))
    assert verdict.notes == ("a key stood twice",)


def test_rules_that_make_no_sense_do_no_harm() -> None:
    rules = Rules(match=(MatchRule("***", strings="relaxed"), MatchRule("", strings="bfcl")))
    assert judged([{"any": {"x": "A"}}], [{"any": {"x": "a"}}], rules=rules).valid
