"""Values that are written as text: the schema says what they are."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Json, Tool
from pytest_fcall.decoding.argument_values import UntypedReading, value_by_schema
from pytest_fcall.decoding.decoders import DECODERS


@pytest.mark.parametrize(
    ("text", "schema", "value"),
    [
        ("3", {"type": "string"}, "3"),
        ("null", {"type": "string"}, "null"),
        (' "x" ', {"type": "string"}, ' "x" '),
        ("3", {"type": "integer"}, 3),
        (" 3\n", {"type": "integer"}, 3),
        ("3.0", {"type": "integer"}, "3.0"),
        ("three", {"type": "integer"}, "three"),
        ("true", {"type": "integer"}, "true"),
        ("9" * 10_000, {"type": "integer"}, "9" * 10_000),
        ("3", {"type": "number"}, 3),
        ("3.5", {"type": "number"}, 3.5),
        ("NaN", {"type": "number"}, "NaN"),
        ("True", {"type": "boolean"}, True),
        ("false", {"type": "boolean"}, False),
        ("yes", {"type": "boolean"}, "yes"),
        ("1", {"type": "boolean"}, "1"),
        ("None", {"type": ["string", "null"]}, None),
        ("none", {"type": ["string", "null"]}, "none"),
        ("Oslo", {"type": ["string", "null"]}, "Oslo"),
        ('"Oslo"', {"type": ["string", "null"]}, '"Oslo"'),
        ("3", {"anyOf": [{"type": "string"}, {"type": "integer"}]}, 3),
        ("3", {"enum": ["1", "2", "3"]}, "3"),
        ("3", {"enum": [1, 2, 3]}, 3),
        ("3", {"const": 3}, 3),
        ("3", {"anyOf": [{"$ref": "#/$defs/Level"}, {"type": "null"}]}, 3),
        ('[1, "a"]', {"type": "array"}, [1, "a"]),
        ('{"a": null}', {"type": "object"}, {"a": None}),
        ("{'a': None}", {"type": "object"}, {"a": None}),
        ("['a', 2]", {"type": "array"}, ["a", 2]),
        ("['a', open('b')]", {"type": "array"}, "['a', open('b')]"),
        ("['a']", {"type": "string"}, "['a']"),
        ("[1", {"type": "array"}, "[1"),
        ('{"a": 1}', {"type": "array"}, '{"a": 1}'),
        ("[" * 200 + "]" * 200, {"type": "array"}, "[" * 200 + "]" * 200),
    ],
)
def test_a_value_is_what_the_schema_allows_or_stays_text(text: str, schema: Mapping[str, Json], value: Json) -> None:
    found, _ = value_by_schema(text, schema, "text")
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("schema", [None, {}, {"description": "Any day."}])
@pytest.mark.parametrize(
    ("text", "untyped", "value"),
    [
        ("3", "text", "3"),
        ("3", "json", 3),
        (" Oslo ", "text", " Oslo "),
        (" Oslo ", "json", "Oslo"),
        ('"Oslo"', "json", "Oslo"),
        ("True", "json", True),
        ("2026-11-21", "json", "2026-11-21"),
    ],
)
def test_where_the_schema_says_nothing_the_family_decides(
    schema: Mapping[str, Json] | None, text: str, untyped: UntypedReading, value: Json
) -> None:
    assert value_by_schema(text, schema, untyped) == (value, ())


@given(st.text(), st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object", "?"]))
def test_any_text_has_a_value(text: str, kind: str) -> None:
    value, _ = value_by_schema(text, {"type": kind}, "text")
    assert not isinstance(value, str) or value == text


@pytest.mark.parametrize(
    ("family", "text", "arguments"),
    [
        ("qwen_coder", "<function=f><parameter=count>3</parameter><parameter=x>3</parameter></function>", (3, "3")),
        (
            "glm",
            "<tool_call>f<arg_key>count</arg_key><arg_value>3</arg_value>"
            "<arg_key>x</arg_key><arg_value>3</arg_value></tool_call>",
            (3, 3),
        ),
        (
            "deepseek",
            '<｜DSML｜invoke name="f"><｜DSML｜parameter name="count">3</｜DSML｜parameter>'
            '<｜DSML｜parameter name="x">3</｜DSML｜parameter></｜DSML｜invoke>',
            (3, "3"),
        ),
        (
            "deepseek",
            '<｜DSML｜invoke name="f"><｜DSML｜parameter name="count" string="true">3</｜DSML｜parameter>'
            '<｜DSML｜parameter name="x" string="false">3</｜DSML｜parameter></｜DSML｜invoke>',
            ("3", 3),
        ),
    ],
)
def test_families_differ_where_no_schema_says_the_type(family: str, text: str, arguments: tuple[Json, Json]) -> None:
    tool = Tool("f", parameters={"type": "object", "properties": {"count": {"type": "integer"}}})
    assert tuple(DECODERS[family](text, [tool]).calls[0].arguments.values()) == arguments


def test_a_tool_with_a_broken_schema_says_nothing() -> None:
    tool = Tool("f", parameters={"type": "object", "properties": {"count": {"type": "no such type"}}})
    text = "<function=f><parameter=count>3</parameter></function>"
    assert DECODERS["qwen_coder"](text, [tool]).calls[0].arguments == {"count": "3"}
