from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Json, Tool
from pytest_fcall.schema.tool_changes import ToolChange, tool_changes


def book(**parameters: Json) -> list[Tool]:
    return [Tool("book", "Book.", {"type": "object", **parameters})]


CITY: dict[str, Json] = {"type": "string"}


def test_nothing_changed_when_only_the_order_did() -> None:
    one = [Tool("a", "", {"type": "object", "properties": {"x": {}, "y": {}}, "required": ["x", "y"]}), Tool("b")]
    two = [Tool("b"), Tool("a", "", {"required": ["y", "x"], "properties": {"y": {}, "x": {}}, "type": "object"})]
    assert tool_changes(one, two) == []


def test_tools_that_came_and_went_are_named() -> None:
    assert tool_changes([Tool("old"), Tool("same")], [Tool("same"), Tool("new")]) == [
        ToolChange("removed", "old"),
        ToolChange("added", "new"),
    ]


def test_a_description_is_part_of_what_a_model_is_told() -> None:
    assert tool_changes([Tool("a", "one")], [Tool("a", "two")]) == [
        ToolChange("changed", "a", ("its description changed",))
    ]


@pytest.mark.parametrize(
    ("before", "after", "detail"),
    [
        ({"properties": {"city": CITY}}, {"properties": {}}, "`city` was removed"),
        ({"properties": {}}, {"properties": {"city": CITY}}, "`city` is new and optional"),
        ({"properties": {}}, {"properties": {"city": CITY}, "required": ["city"]}, "`city` is new and required"),
        (
            {"properties": {"city": CITY}},
            {"properties": {"city": CITY}, "required": ["city"]},
            "`city` became required",
        ),
        (
            {"properties": {"city": CITY}, "required": ["city"]},
            {"properties": {"city": CITY}},
            "`city` became optional",
        ),
        (
            {"properties": {"city": CITY}},
            {"properties": {"city": {"type": ["string", "null"]}}},
            '`city`: type "string" became ["string", "null"]',
        ),
        (
            {"properties": {"unit": {"enum": ["C", "F"]}}},
            {"properties": {"unit": {"enum": ["C"]}}},
            '`unit`: "F" no longer allowed',
        ),
        (
            {"properties": {"n": {"enum": [1, True]}}},
            {"properties": {"n": {"enum": [1, True, "x"]}}},
            '`n`: "x" now allowed',
        ),
        (
            {"properties": {"unit": {}}},
            {"properties": {"unit": {"enum": ["C"]}}},
            '`unit`: allowed values (none) became ["C"]',
        ),
        ({"properties": {"n": {"maximum": 9}}}, {"properties": {"n": {"maximum": 5}}}, "`n`: maximum 9 became 5"),
        (
            {"properties": {"n": {"default": 1}}},
            {"properties": {"n": {"default": True}}},
            "`n`: default 1 became true",
        ),
        (
            {"properties": {"n": {"description": "x"}}},
            {"properties": {"n": {"description": "y"}}},
            "`n`: its description changed",
        ),
        (
            {"properties": {"who": {"properties": {"name": CITY}}}},
            {"properties": {"who": {"properties": {}}}},
            "`who.name` was removed",
        ),
        (
            {"properties": {"days": {"items": {"type": "string"}}}},
            {"properties": {"days": {"items": {"type": "integer"}}}},
            '`days[]`: type "string" became "integer"',
        ),
        ({}, {"additionalProperties": False}, "the arguments: additionalProperties (none) became false"),
    ],
)
def test_a_change_is_said_with_its_argument(before: dict[str, Json], after: dict[str, Json], detail: str) -> None:
    assert tool_changes(book(**before), book(**after)) == [ToolChange("changed", "book", (detail,))]


def test_a_renamed_argument_is_known_by_its_schema_whatever_its_title_says() -> None:
    before = book(properties={"city": {**CITY, "title": "City"}, "days": {"type": "integer"}}, required=["city"])
    after = book(properties={"town": {**CITY, "title": "Town"}, "days": {"type": "integer"}})
    (change,) = tool_changes(before, after)
    assert change.details == ("`city` was renamed to `town`", "`town` became optional")


def test_of_arguments_alike_none_is_guessed_to_be_renamed() -> None:
    (change,) = tool_changes(book(properties={"a": CITY, "b": CITY}), book(properties={"c": CITY}))
    assert change.details == ("`a` was removed", "`b` was removed", "`c` is new and optional")


def nested(innermost: str) -> dict[str, Json]:
    schema: dict[str, Json] = {"type": innermost}
    for _ in range(5000):
        schema = {"properties": {"a": schema}}
    return schema


def test_what_is_nested_too_deep_is_still_a_change() -> None:
    changes = tool_changes(book(**nested("string")), book(**nested("integer")))
    assert changes == [ToolChange("changed", "book", ("its parameters changed",))]


SCHEMAS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["properties", "items", "required", "enum", "type", "description", "a"]), inner, max_size=4
        )
    ),
)
PARAMETERS = st.dictionaries(st.sampled_from(["properties", "required", "items", "enum", "type"]), SCHEMAS)


@given(one=PARAMETERS, two=PARAMETERS)
def test_any_schemas_can_be_compared_and_none_differs_from_itself(one: dict[str, Json], two: dict[str, Json]) -> None:
    assert tool_changes([Tool("a", "", one)], [Tool("a", "", one)]) == []
    for change in tool_changes([Tool("a", "", one)], [Tool("a", "", two)]):
        assert change.kind == "changed"
        assert change.details
