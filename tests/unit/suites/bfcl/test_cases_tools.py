from __future__ import annotations

import pytest

from pytest_fcall.core import Json, Tool
from tests.unit.suites.bfcl.rows import WEATHER, case, decoded, forecast, verdicts


def tool(schema: Json, *options: Json) -> Tool:
    """The tool of a case whose only parameter has this schema, and these right values."""
    function: Json = {"name": "f", "parameters": {"type": "dict", "properties": {"x": schema}, "required": []}}
    (found,) = case({"f": {"x": list(options)}}, functions=[function]).case.tools
    return found


def parameter(found: Tool) -> Json:
    properties = found.parameters["properties"]
    assert isinstance(properties, dict)
    schema: Json = properties["x"]
    return schema


def test_the_schema_is_read() -> None:
    (found,) = case(forecast(city=["Oslo"]), functions=[WEATHER]).case.tools
    assert found.name == "weather.forecast"
    assert found.parameters["required"] == ["city"]
    assert found.declared == WEATHER["parameters"]


@pytest.mark.parametrize(
    ("schema", "right"),
    [
        ({"type": "string", "enum": ["seconds"]}, "N/A"),
        ({"type": "string"}, True),
        ({"type": "integer", "default": "any"}, "any"),
        ({"type": "array", "items": {"type": "integer"}}, ["apple"]),
        ({"type": "array", "items": {"type": "string"}, "enum": ["a", "b"]}, ["a"]),
        ({"type": "dict", "properties": {"a": {"type": "integer"}}}, {"a": ["one"]}),
    ],
)
def test_a_schema_that_forbids_all_that_is_right_is_passed_over(schema: dict[str, Json], right: Json) -> None:
    assert parameter(tool(schema, right, "")) == {key: value for key, value in schema.items() if key == "default"}


def test_whole_numbers_stay_whole_where_the_schema_is_passed_over() -> None:
    rooms: Json = {"type": "string", "enum": ["1", "2"], "default": "any"}
    assert parameter(tool(rooms, 1, 2, "")) == {"type": "integer", "default": "any"}
    assert parameter(tool(rooms, 1, 2.5)) == {"default": "any"}
    function: Json = {"name": "f", "parameters": {"type": "dict", "properties": {"x": rooms}, "required": []}}
    assert verdicts(case({"f": {"x": [1]}}, functions=[function]), decoded({"f": {"x": 1.0}})) == (False, False)
    twice = case({"f": {"x": [3]}}, {"f": {"x": ["2"]}}, category="parallel", functions=[function])
    assert verdicts(twice, decoded({"f": {"x": 3}}, {"f": {"x": "2"}})) == (True, True)


def test_a_schema_that_allows_something_right_stands() -> None:
    found = parameter(tool({"type": "string", "enum": ["Bronze"]}, "bronze", "Bronze"))
    assert found == {"type": "string", "enum": ["Bronze"]}


def test_a_schema_that_cannot_be_used_says_nothing() -> None:
    function: Json = {
        "name": "f",
        "parameters": {"type": "dict", "properties": {"x": {"type": "string", "pattern": "("}}, "required": []},
    }
    broken = case({"f": {"x": ["a"]}}, functions=[function])
    assert verdicts(broken, decoded({"f": {"x": "a"}})) == (True, True)
    assert verdicts(broken, decoded({"f": {"x": "b"}})) == (False, False)


def test_a_broken_schema_leaves_its_parameter_free_and_no_other() -> None:
    properties: Json = {"x": {"type": "array", "items": "{'type': 'string'}"}, "n": {"type": "integer"}}
    function: Json = {"name": "f", "parameters": {"type": "dict", "properties": properties, "required": ["n", "gone"]}}
    broken = case({"f": {"x": [["a"]], "n": [1]}}, functions=[function])
    (found,) = broken.case.tools
    assert found.parameters["properties"] == {"x": {}, "n": {"type": "integer"}}
    assert found.parameters["required"] == ["n"]
    assert verdicts(broken, decoded({"f": {"x": ["a"], "n": 1}}))[1]
    assert not verdicts(broken, decoded({"f": {"x": ["a"], "n": 1.0}}))[1]
