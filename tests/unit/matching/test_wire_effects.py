"""Not every wire can say all that JSON can: what it did to arguments is no mistake of the model."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fcall.core import Json, Reply, Tool, Verdict
from tests.unit.matching.language import TOOLS, findings, judged

FLOATS = Reply("", engine={"wire": ["floats"]})
NULLS = Reply("", engine={"wire": ["nulls"]})
BOTH = Reply("", engine={"wire": ["floats", "nulls"]})


def weather(made: dict[str, Any], expected: dict[str, Any], reply: Reply) -> Verdict:
    return judged([{"get_weather": made}], [{"get_weather": expected}], reply=reply)


def test_a_whole_float_is_an_integer_where_the_wire_knows_only_floats() -> None:
    verdict = weather({"city": "Paris", "days": 3.0}, {"city": "Paris", "days": 3}, FLOATS)
    assert findings(verdict) == []
    assert "floats of all numbers" in verdict.notes[0]


def test_without_such_a_wire_it_is_none() -> None:
    assert findings(weather({"city": "Paris", "days": 3.0}, {"city": "Paris", "days": 3}, Reply())) == [
        "wrong_type calls[0].args.days"
    ]


def test_a_fraction_is_no_integer_on_any_wire() -> None:
    verdict = weather({"city": "Paris", "days": 3.5}, {"city": "Paris", "days": 3}, FLOATS)
    assert findings(verdict) == ["wrong_type calls[0].args.days"]
    assert verdict.notes == ()


@pytest.mark.parametrize("value", [1e300, 2.0**53, float("nan"), float("inf"), True, "3.0"])
def test_what_is_no_whole_number_that_floats_can_tell_stays_as_it_is(value: Json) -> None:
    assert judged([{"any": {"x": value}}], [{"any": {"x": {"$type": "integer"}}}], reply=FLOATS).notes == ()


def test_numbers_inside_lists_and_objects_are_numbers_too() -> None:
    made = {"flight": "F7", "items": [{"name": "a", "count": 2.0}]}
    expected = {"flight": "F7", "items": [{"name": "a", "count": 2}]}
    assert judged([{"book": made}], [{"book": expected}], reply=FLOATS).valid


def test_a_null_that_the_wire_forced_is_an_argument_left_out() -> None:
    verdict = weather({"city": "Paris", "unit": None, "days": None}, {"city": "Paris"}, NULLS)
    assert findings(verdict) == []
    assert "makes every argument required" in verdict.notes[0]


def test_without_such_a_wire_the_schema_decides_about_null() -> None:
    assert findings(weather({"city": "Paris", "days": None}, {"city": "Paris"}, Reply())) == [
        "wrong_type calls[0].args.days"
    ]


def test_a_null_never_stands_for_a_required_argument() -> None:
    assert findings(weather({"city": None}, {"city": "Paris"}, NULLS)) == ["wrong_type calls[0].args.city"]


def test_a_null_never_stands_for_the_value_that_is_expected() -> None:
    verdict = weather({"city": "Paris", "days": None}, {"city": "Paris", "days": 3}, NULLS)
    assert findings(verdict) == ["missing_argument calls[0].args.days"]


def test_a_null_that_the_schema_takes_stays_a_null() -> None:
    verdict = weather({"city": "Paris", "note": None}, {"city": "Paris", "note": {"$type": "null"}}, NULLS)
    assert findings(verdict) == []
    assert verdict.notes == ()


def test_a_null_in_an_invented_argument_is_still_invented() -> None:
    assert findings(weather({"city": "Paris", "mood": None}, {"city": "Paris"}, NULLS)) == [
        "unexpected_argument calls[0].args.mood"
    ]


def test_nulls_inside_objects_and_lists_of_them_are_left_out_too() -> None:
    made = {"flight": "F7", "address": {"city": "Oslo", "zip": None}, "items": [{"name": "a", "count": None}]}
    expected = {"flight": "F7", "address": {"city": "Oslo"}, "items": [{"name": "a"}]}
    assert judged([{"book": made}], [{"book": expected}], reply=BOTH).valid


@pytest.mark.parametrize("wire", [None, "floats", 3, {"floats": True}, ["other", 3, None]])
def test_a_wire_that_nobody_knows_changes_nothing(wire: Json) -> None:
    reply = Reply(engine={"wire": wire})
    assert not weather({"city": "Paris", "days": 3.0}, {"city": "Paris", "days": 3}, reply).valid


def test_deep_and_odd_values_do_no_harm() -> None:
    value: Any = 1.0
    for _ in range(5_000):
        value = [value]
    assert not judged([{"any": {"x": value}}], [{"any": {"x": [1]}}], reply=BOTH, tools=()).valid
    assert not judged([{"any": {1: None, "x": {2: None}}}], [{"any": {}}], reply=BOTH, tools=TOOLS).valid


def test_a_tool_without_a_usable_schema_keeps_its_nulls() -> None:
    tool = Tool("f", parameters={"type": "object", "properties": {"x": {"type": 3}}})
    assert judged([{"f": {"x": None}}], [{"f": {"x": None}}], tools=[tool], reply=NULLS).valid


@pytest.mark.parametrize(
    ("effects", "given", "expected"),
    [
        (["floats"], {"x": 2.0**53 - 1, "y": None}, {"x": 2**53 - 1, "y": None}),
        (["nulls"], {"x": 3.0}, {"x": 3.0}),
        (["floats"], {"x": -107.0}, {"x": -107}),
    ],
)
def test_each_wire_does_what_it_is_known_to_do_and_no_more(
    effects: list[Json], given: dict[str, Any], expected: dict[str, Any]
) -> None:
    reply = Reply("", engine={"wire": effects})
    assert judged([{"any": given}], [{"any": expected}], reply=reply).valid
    is_whole = judged([{"any": {"x": given["x"]}}], [{"any": {"x": {"$type": "integer"}}}], reply=reply).valid
    assert is_whole is isinstance(expected["x"], int)


def test_a_null_stays_where_the_wire_is_only_known_to_make_floats() -> None:
    made = {"city": "Paris", "days": None}
    assert findings(weather(made, {"city": "Paris"}, FLOATS)) == ["wrong_type calls[0].args.days"]
    assert weather(made, {"city": "Paris"}, NULLS).valid


@pytest.mark.parametrize("wire", ["floats", {"floats": 1}, 7, None, ["other", 7, ["floats"]], []])
def test_what_no_wire_says_changes_nothing(wire: Json) -> None:
    reply = Reply("", engine={"wire": wire})
    assert findings(weather({"city": "Paris", "days": 3.0}, {"city": "Paris", "days": 3}, reply)) == [
        "wrong_type calls[0].args.days"
    ]
