"""Arguments are checked more strictly than JSON Schema does, and what is wrong is told well."""

from __future__ import annotations

import enum
import json
import math
import types
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_fcall.core import Json, Tool
from pytest_fcall.schema.dialect import normalise
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.findings import Finding
from pytest_fcall.schema.tool_schema import ToolSchema, tool_schema

TEXT: dict[str, Json] = {"type": "string"}
INTEGER: dict[str, Json] = {"type": "integer"}
NUMBER: dict[str, Json] = {"type": "number"}
NULL: dict[str, Json] = {"type": "null"}


def compiled(schema: Mapping[str, Json]) -> ToolSchema:
    return tool_schema(Tool("f", "", schema))


def argument(schema: Json, **more: Json) -> ToolSchema:
    """The schema of a tool with one argument, `x`."""
    return compiled({"type": "object", "properties": {"x": schema}, **more})


def told(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.kind, finding.message) for finding in findings]


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        pytest.param(INTEGER, [0, -1, 10**30], [1.0, 1.5, -0.0, 1e300, True, "1", None, [1], {}], id="integer"),
        pytest.param(NUMBER, [0, 1, 1.0, 1.5, 10**30], [True, "1", None], id="number"),
        pytest.param(TEXT, ["", "1", "é", "\0", "🙂"], [1, None, True, ["a"]], id="string"),
        pytest.param({"type": "boolean"}, [True, False], [0, 1, "true", None], id="boolean"),
        pytest.param(NULL, [None], [0, "", False], id="null"),
        pytest.param({"type": ["integer", "string"]}, [1, "1"], [1.0, None], id="integer or string"),
        pytest.param({"type": ["integer", "number"]}, [1, 1.0], ["1"], id="integer or number"),
        pytest.param({"anyOf": [INTEGER, NULL]}, [1, None], [1.0, "1"], id="optional integer"),
        pytest.param({"anyOf": [INTEGER, NUMBER]}, [1, 1.0], ["1"], id="integer or number by anyOf"),
        pytest.param({"oneOf": [INTEGER, TEXT]}, [1, "1"], [1.0], id="integer or string by oneOf"),
        pytest.param({"allOf": [NUMBER, INTEGER]}, [1], [1.0], id="integer by allOf"),
        pytest.param({"not": INTEGER}, [1.0, "1"], [1], id="no integer"),
        pytest.param({"type": "array", "items": INTEGER}, [[], [1, 2]], [[1, 2.0], [True]], id="list of integers"),
        pytest.param({"type": "integer", "enum": [1, 2]}, [1], [1.0, 3, True], id="choice of integers"),
        pytest.param({"enum": ["a", None]}, ["a", None], ["b", "", "A"], id="choice with null"),
        pytest.param({"const": "a"}, ["a"], ["b", None], id="constant"),
        pytest.param({"type": "integer", "minimum": 1, "exclusiveMaximum": 3}, [1, 2], [0, 3], id="bounds"),
        pytest.param({"pattern": "^[a-z]+$"}, ["abc", 3], ["aBc", ""], id="pattern"),
        pytest.param({"type": "string", "format": "date"}, ["2026-11-21"], [1, "soon"], id="format"),
        pytest.param({"type": "string", "format": "mood"}, ["soon"], [1], id="unknown format"),
        pytest.param(
            {"type": "array", "prefixItems": [INTEGER, TEXT], "items": False},
            [[1, "a"], [1]],
            [["a"], [1, "a", 2]],
            id="tuple",
        ),
        pytest.param({"type": "array", "uniqueItems": True}, [[1, True, 2]], [[1, 1]], id="different items"),
        pytest.param({}, [1, "a", None, {"a": [1]}], [], id="anything"),
        pytest.param(True, [1, "a", None], [], id="true"),
        pytest.param(False, [], [1, None], id="false"),
    ],
)
def test_values_are_typed_as_written(schema: Json, good: list[Json], bad: list[Json]) -> None:
    tool = argument(schema)
    for value in good:
        assert tool.check({"x": value}) == []
        assert tool.check_at(("x",), value) == []
    for value in bad:
        findings = tool.check({"x": value})
        assert findings
        assert all(finding.path[0] == "x" for finding in findings)


ADDRESS: dict[str, Json] = {
    "type": "object",
    "properties": {"zip": {"type": "string", "pattern": "^[0-9]+$"}, "city": TEXT},
    "required": ["zip"],
}
PETS: dict[str, Json] = {
    "oneOf": [
        {"type": "object", "properties": {"kind": {"const": "cat"}, "lives": INTEGER}, "required": ["kind"]},
        {"type": "object", "properties": {"kind": {"const": "dog"}, "trick": TEXT}, "required": ["kind"]},
    ]
}


@pytest.mark.parametrize(
    ("schema", "value", "kind", "message"),
    [
        (INTEGER, "5", "wrong_type", "`x` must be an integer, not the string '5'"),
        (INTEGER, 1.0, "wrong_type", "`x` must be an integer, not the number 1.0"),
        (INTEGER, True, "wrong_type", "`x` must be an integer, not the boolean true"),
        (INTEGER, None, "wrong_type", "`x` must be an integer, not null"),
        (TEXT, 5, "wrong_type", "`x` must be a string, not the integer 5"),
        (TEXT, [5], "wrong_type", "`x` must be a string, not a list"),
        (TEXT, {}, "wrong_type", "`x` must be a string, not an object"),
        ({"type": ["integer", "null"]}, "a", "wrong_type", "`x` must be an integer or null, not the string 'a'"),
        ({"anyOf": [INTEGER, TEXT, NULL]}, [], "wrong_type", "`x` must be an integer, a string or null, not a list"),
        ({"anyOf": [INTEGER, NUMBER]}, "a", "wrong_type", "`x` must be a number, not the string 'a'"),
        (
            {"enum": ["celsius", "fahrenheit"]},
            "kelvin",
            "schema",
            "`x` must be one of celsius, fahrenheit, not 'kelvin'",
        ),
        (
            {"enum": ["celsius", "fahrenheit"]},
            "Celsius",
            "schema",
            "`x` must be one of celsius, fahrenheit, not 'Celsius'; did you mean `celsius`?",
        ),
        ({"enum": ["a, b", "", 1, None]}, 2, "schema", "`x` must be one of 'a, b', '', 1, null, not 2"),
        ({"enum": list(range(20))}, 99, "schema", "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, … (20 in all), not 99"),
        ({"const": "a"}, "b", "schema", "`x` must be 'a', not 'b'"),
        ({"anyOf": [{"const": "a"}, {"const": "b"}]}, "q", "schema", "`x` must be one of a, b, not 'q'"),
        ({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, "q", "schema", "`x` must be 'a', not 'q'"),
        ({"minimum": 1}, 0, "schema", "`x` must be at least 1, not 0"),
        ({"maximum": 1}, 2, "schema", "`x` must be at most 1, not 2"),
        ({"exclusiveMinimum": 1}, 1, "schema", "`x` must be more than 1, not 1"),
        ({"exclusiveMaximum": 1.5}, 2, "schema", "`x` must be less than 1.5, not 2"),
        ({"multipleOf": 5}, 7, "schema", "`x` must be a multiple of 5, not 7"),
        ({"minLength": 3}, "ab", "schema", "`x` must have at least 3 characters, not 2"),
        ({"maxItems": 1}, [1, 2], "schema", "`x` must have at most 1 items, not 2"),
        ({"minProperties": 1}, {}, "schema", "`x` must have at least 1 entries, not 0"),
        ({"pattern": "^a$"}, "b", "schema", "`x` must match the pattern '^a$', unlike 'b'"),
        ({"uniqueItems": True}, [1, 1], "schema", "`x` must not contain the same item twice"),
        ({"contains": TEXT}, [1], "schema", "`x` contains too few or too many of the required items"),
        ({"not": TEXT}, "a", "schema", "`x` must not be 'a'"),
        ({"oneOf": [{"minimum": 1}, {"minimum": 2}]}, 3, "schema", "`x` matches more than one of the allowed forms"),
        ({"anyOf": [{"type": "integer", "minimum": 5}, TEXT]}, 3, "schema", "`x` must be at least 5, not 3"),
        (False, 1, "schema", "`x` is not allowed here"),
        ({"pattern": "^(a|aa)+(?=b)\\1$"}, "a" * 60 + "c", "schema", "`x` must match the pattern"),
    ],
)
def test_sentences_say_what_is_wrong(schema: Json, value: Json, kind: str, message: str) -> None:
    (finding,) = argument(schema).check({"x": value})
    assert finding.kind == kind
    assert finding.path == ("x",)
    assert message in finding.message
    assert finding.got == value


@pytest.mark.parametrize(
    ("schema", "value", "findings"),
    [
        pytest.param(
            ADDRESS,
            {"zp": "1"},
            [
                ("missing_argument", "`x.zip` is missing"),
                ("unexpected_argument", "`x.zp` is not a property of `x`; did you mean `zip`?"),
            ],
            id="misspelt",
        ),
        pytest.param(ADDRESS, {"zip": 1}, [("wrong_type", "`x.zip` must be a string, not the integer 1")], id="typed"),
        pytest.param(
            {"anyOf": [ADDRESS, NULL]},
            {"zip": "a", "q": 1},
            [
                ("schema", "`x.zip` must match the pattern '^[0-9]+$', unlike 'a'"),
                ("unexpected_argument", "`x.q` is not a property of `x`"),
            ],
            id="optional object",
        ),
        pytest.param(
            PETS,
            {"kind": "dog", "trick": 1},
            [("wrong_type", "`x.trick` must be a string, not the integer 1")],
            id="dog",
        ),
        pytest.param(
            PETS,
            {"kind": "cat", "trick": "x"},
            [("unexpected_argument", "`x.trick` is not a property of `x`")],
            id="cat",
        ),
        pytest.param(PETS, {"kind": "cow"}, [("schema", "`x.kind` must be one of cat, dog, not 'cow'")], id="neither"),
        pytest.param(PETS, {}, [("missing_argument", "`x.kind` is missing")], id="no kind"),
        pytest.param(PETS, "cat", [("wrong_type", "`x` must be an object, not the string 'cat'")], id="no object"),
        pytest.param(
            {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {},
            [("missing_argument", "`x.a` or `x.b` is missing")],
            id="one of two",
        ),
        pytest.param(
            {"type": "array", "items": ADDRESS},
            [{"zip": "1"}, {"zip": "1", "q": 1}],
            [("unexpected_argument", "`x[1].q` is not a property of `x[1]`")],
            id="in a list",
        ),
        pytest.param(
            {"type": "object", "propertyNames": {"pattern": "^a"}},
            {"b": 1},
            [("unexpected_argument", "`x.b` is not an allowed name")],
            id="name",
        ),
        pytest.param(
            {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
            {"a": 1},
            [("missing_argument", "`x.b` is missing")],
            id="condition",
        ),
    ],
)
def test_the_most_specific_mistake_is_told(schema: Json, value: Json, findings: list[tuple[str, str]]) -> None:
    assert sorted(told(argument(schema).check({"x": value}))) == sorted(findings)
    assert sorted(told(argument(schema).check_at(("x",), value))) == sorted(findings)


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_mistakes_do_not_depend_on_the_order_in_which_a_model_writes_arguments(names: str) -> None:
    form: Json = {"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}}
    value: dict[str, Json] = {name: [] for name in names}
    findings = argument({"allOf": [{"anyOf": [form]}]}).check({"x": value})
    assert told(findings) == [("schema", "`x.a` must be 1, not a list")]


def test_all_mistakes_are_told_at_once() -> None:
    tool = compiled({"properties": {"city": TEXT, "days": INTEGER, "unit": {"enum": ["c", "f"]}}, "required": ["city"]})
    assert sorted(told(tool.check({"ciy": "Oslo", "days": "5", "unit": "k"}))) == [
        ("missing_argument", "`city` is missing"),
        ("schema", "`unit` must be one of c, f, not 'k'"),
        ("unexpected_argument", "`ciy` is not an argument of this tool; did you mean `city`?"),
        ("wrong_type", "`days` must be an integer, not the string '5'"),
    ]


def test_an_argument_that_is_there_is_not_suggested_again() -> None:
    tool = compiled({"properties": {"city": TEXT}})
    assert told(tool.check({"city": "Oslo", "citi": "x"})) == [
        ("unexpected_argument", "`citi` is not an argument of this tool")
    ]


@pytest.mark.parametrize(
    ("schema", "more", "allowed"),
    [
        pytest.param({}, {"q": 1}, False, id="nothing said"),
        pytest.param({"properties": {"a": TEXT}}, {"q": 1}, False, id="properties listed"),
        pytest.param({"additionalProperties": False}, {"q": 1}, False, id="closed"),
        pytest.param({"additionalProperties": True}, {"q": 1}, True, id="open"),
        pytest.param({"additionalProperties": INTEGER}, {"q": 1}, True, id="open to integers"),
        pytest.param({"additionalProperties": INTEGER}, {"q": 1.0}, False, id="open to integers only"),
        pytest.param({"unevaluatedProperties": True}, {"q": 1}, True, id="open by unevaluatedProperties"),
        pytest.param({"patternProperties": {"^q": INTEGER}}, {"q": 1}, True, id="pattern fits"),
        pytest.param({"patternProperties": {"^z": INTEGER}}, {"q": 1}, False, id="no pattern fits"),
        pytest.param({"allOf": [{"properties": {"q": INTEGER}}]}, {"q": 1}, True, id="declared in allOf"),
        pytest.param({"anyOf": [{"properties": {"q": INTEGER}}]}, {"q": 1}, True, id="declared in anyOf"),
        pytest.param(
            {"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"q": INTEGER}}}}, {"q": 1}, True, id="declared by $ref"
        ),
        pytest.param(
            {"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"z": INTEGER}}}}, {"q": 1}, False, id="not by $ref"
        ),
        pytest.param({"if": True, "then": {"properties": {"q": INTEGER}}}, {"q": 1}, True, id="declared in then"),
    ],
)
def test_an_argument_that_nobody_declared_is_an_error(schema: dict[str, Json], more: Json, allowed: bool) -> None:
    assert isinstance(more, dict)
    assert (compiled({"type": "object", **schema}).check(more) == []) is allowed


@pytest.mark.parametrize(
    ("schema", "allowed"),
    [
        pytest.param({"type": "object"}, True, id="free-form"),
        pytest.param({"type": "object", "properties": {}}, True, id="lists nothing"),
        pytest.param({"type": "object", "properties": {"a": TEXT}}, False, id="lists something"),
        pytest.param({"type": "object", "properties": {"a": TEXT}, "additionalProperties": True}, True, id="open"),
        pytest.param({"type": "object", "additionalProperties": False}, False, id="closed and empty"),
        pytest.param({"allOf": [{"properties": {"a": TEXT}}, {"properties": {"q": INTEGER}}]}, True, id="allOf"),
        pytest.param({"allOf": [{"properties": {"a": TEXT}}, {"properties": {"b": TEXT}}]}, False, id="not in allOf"),
        pytest.param({"$ref": "#/$defs/a"}, False, id="by reference"),
        pytest.param({"anyOf": [{"$ref": "#/$defs/a"}, NULL]}, False, id="optional by reference"),
        pytest.param({"allOf": [{"$ref": "#/$defs/a"}, {"properties": {"q": INTEGER}}]}, True, id="extended"),
        pytest.param({"type": "array", "items": {"$ref": "#/$defs/a"}}, None, id="in a list"),
        pytest.param({"not": {"properties": {"a": INTEGER}, "required": ["a"]}}, True, id="conditions are no promise"),
    ],
)
def test_nested_objects_are_closed_where_they_list_their_properties(schema: Json, allowed: bool | None) -> None:
    definitions: dict[str, Json] = {"a": {"type": "object", "properties": {"a": TEXT}}}
    tool = argument(schema, **{"$defs": definitions})
    value: Json = {"q": 1} if allowed is not None else [{"q": 1}]
    assert (tool.check({"x": value}) == []) is bool(allowed)


def test_a_schema_that_refers_to_itself_is_checked_at_every_level() -> None:
    tool = compiled(
        {
            "properties": {"root": {"$ref": "#/$defs/Node"}},
            "$defs": {
                "Node": {
                    "type": "object",
                    "properties": {"name": TEXT, "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
                    "required": ["name"],
                }
            },
        }
    )
    assert tool.check({"root": {"name": "a", "kids": [{"name": "b", "kids": []}]}}) == []
    (finding,) = tool.check({"root": {"name": "a", "kids": [{"name": "b", "kids": [{"name": 1}]}]}})
    assert finding.message == "`root.kids[0].kids[0].name` must be a string, not the integer 1"
    (finding,) = tool.check_at(("root", "kids", 0, "kids", 3), {"nam": 1, "name": "x"})
    assert finding.path == ("root", "kids", 0, "kids", 3, "nam")


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Word(str):
    __slots__ = ()


@pytest.mark.parametrize("value", [Colour.RED, Word("red")])
def test_strings_of_other_classes_are_strings(value: str) -> None:
    assert argument({"type": "string", "enum": ["red"]}).check({"x": value}) == []


def test_numbers_and_containers_of_other_classes_are_what_they_hold() -> None:
    assert argument(INTEGER).check({"x": Level.LOW}) == []
    assert argument({"items": INTEGER}).check(types.MappingProxyType({"x": (1, 2)})) == []


def nested(levels: int) -> Json:
    value: Json = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("\ud800", "lone surrogate"),
        ("a" * 1_000_000 + "\udfff", "lone surrogate"),
        (math.nan, "nan"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (10**5000, "more than a thousand digits"),
        (-(10**5000), "more than a thousand digits"),
        ({1, 2}, "a Python set"),
        (b"abc", "a Python bytes"),
        (object(), "a Python object"),
        ({1: 2}, "the key 1"),
        ({None: 2}, "the key null"),
        ({"\ud800": 2}, "the key '\\ud800'"),
        (nested(100_000), "deeper than 50 levels"),
        ([[{"a": math.nan}]], "`x[0][0].a` is nan"),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("schema", [{}, INTEGER, NUMBER, TEXT, {"maximum": 3}, {"anyOf": [TEXT, NUMBER, NULL]}, PETS])
def test_what_json_cannot_say_is_a_finding_and_never_an_exception(value: Any, message: str, schema: Json) -> None:
    findings = argument(schema).check({"x": value})
    assert message in findings[0].message
    assert len(findings[0].message) < 200
    assert findings[0].path[0] == "x"


def test_keys_that_are_no_strings_are_told_of_the_call_itself() -> None:
    odd: Any = {1: "a"}
    assert told(argument(TEXT).check(odd)) == [("wrong_type", "the call has the key 1, which is not a string")]


def test_arguments_that_are_no_object_are_a_finding() -> None:
    odd: Any = [1]
    assert told(argument(TEXT).check(odd)) == [("wrong_type", "the call must be an object, not a list")]


@pytest.mark.parametrize("text", ["a" * 1_000_000, "\x1b[31m", "a\u202eb", "\n" * 1000])
def test_hostile_text_is_short_and_printable_in_sentences(text: str) -> None:
    for findings in (
        argument(INTEGER).check({"x": text}),
        argument({"enum": ["a"]}).check({"x": text}),
        argument(TEXT).check({text: 1}),
        argument(ADDRESS).check({"x": {text: 1}}),
    ):
        assert all(finding.message.isprintable() and len(finding.message) < 400 for finding in findings)
        assert findings


SUM: Json = {
    "oneOf": [
        NUMBER,
        *(
            {
                "type": "object",
                "properties": {"sign": {"const": sign}, "of": {"type": "array", "items": {"$ref": "#/$defs/sum"}}},
                "required": ["sign", "of"],
            }
            for sign in "+-"
        ),
    ]
}
"""Two forms that hold what they are forms of."""


def summed(levels: int, innermost: Json) -> Json:
    value = innermost
    for _ in range(levels):
        value = {"sign": "-", "of": [value]}
    return value


def test_a_mistake_in_a_union_that_holds_itself_is_told_at_its_place() -> None:
    tool = argument({"$ref": "#/$defs/sum"}, **{"$defs": {"sum": SUM}})
    (finding,) = tool.check({"x": summed(4, "1")})
    assert finding.path == ("x", *("of", 0) * 4)
    assert tool.check({"x": summed(20, 1)}) == []


def test_a_mistake_too_deep_in_a_union_that_holds_itself_is_told_of_its_argument() -> None:
    tool = compiled(
        {
            "type": "object",
            "properties": {"x": {"$ref": "#/$defs/sum"}, "n": INTEGER, "y": {"$ref": "#/$defs/sum"}},
            "required": ["x", "n"],
            "$defs": {"sum": SUM},
        }
    )
    deep = summed(20, "1")
    assert told(tool.check({"x": deep, "y": summed(20, 1), "z": deep})) == [
        ("missing_argument", "`n` is missing"),
        ("schema", "`x` does not match its schema (nested too deeply to say where)"),
        ("unexpected_argument", "`z` is not an argument of this tool"),
    ]
    assert told(tool.check_at(("x",), deep)) == [
        ("schema", "`x` does not match its schema (nested too deeply to say where)")
    ]


def test_schemas_that_only_one_form_holds_are_explained_at_any_depth() -> None:
    node: Json = {"anyOf": [INTEGER, {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}]}
    value: Json = "1"
    for _ in range(40):
        value = {"next": value}
    (finding,) = argument({"$ref": "#/$defs/node"}, **{"$defs": {"node": node}}).check({"x": value})
    assert finding.path == ("x", *["next"] * 40)


def test_many_mistakes_are_cut_short() -> None:
    tool = argument({"type": "array", "items": INTEGER})
    assert 0 < len(tool.check({"x": ["a"] * 1_000})) <= 100
    assert 0 < len(tool.check({f"y{number}": 1 for number in range(1_000)})) <= 100


@pytest.mark.parametrize(
    ("schema", "path", "message"),
    [
        ({"pattern": "("}, ("properties", "x", "pattern"), "not a valid regular expression"),
        ({"$ref": "#/$defs/nope"}, ("properties", "x", "$ref"), "`#/$defs/nope` cannot be resolved"),
        ({"$ref": "http://127.0.0.1:9/x"}, ("properties", "x", "$ref"), "is outside this schema"),
        ({"$ref": "other.json#/a"}, ("properties", "x", "$ref"), "is outside this schema"),
        ({"$ref": "file:///etc/passwd"}, ("properties", "x", "$ref"), "is outside this schema"),
        ({"minimum": "1"}, ("properties", "x", "minimum"), "invalid JSON Schema"),
        ({"enum": "a"}, ("properties", "x", "enum"), "invalid JSON Schema"),
        ({"required": "a"}, ("properties", "x", "required"), "invalid JSON Schema"),
        ({"required": [1]}, ("properties", "x", "required", 0), "invalid JSON Schema"),
        ({"items": {"maxLength": -1}}, ("properties", "x", "items", "maxLength"), "invalid JSON Schema"),
        ({"$ref": 3}, ("properties", "x", "$ref"), "invalid JSON Schema"),
        ({"enum": ["\ud800"]}, (), "cannot be used"),
    ],
)
def test_schemas_that_cannot_be_used_are_told_with_their_place(
    schema: Json, path: tuple[str | int, ...], message: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        argument(schema)
    assert caught.value.path == path
    assert message in caught.value.message


@pytest.mark.parametrize("words", [{"description": "\ud800"}, {"default": {"$ref": "#/nope"}}, {"title": "x"}])
def test_annotations_are_no_part_of_the_check(words: dict[str, Json]) -> None:
    assert argument({"type": "integer", **words}).check({"x": 1}) == []


def test_the_dialect_of_a_tool_made_by_hand_does_not_matter() -> None:
    assert compiled({"type": "dict", "properties": {"x": {"type": "float"}}}).check({"x": 1}) == []


def test_equal_tools_share_one_schema_and_the_same_tool_costs_nothing() -> None:
    one, two = Tool("a", "", {"properties": {"x": TEXT}}), Tool("b", "other", {"properties": {"x": TEXT}})
    assert tool_schema(one) is tool_schema(one)
    assert tool_schema(one) is tool_schema(two)


def test_what_a_tool_takes_is_told() -> None:
    tool = compiled(
        {
            "properties": {"a": {"$ref": "#/$defs/a", "default": 1}, "b": True},
            "allOf": [{"properties": {"c": TEXT}, "required": ["c"]}],
            "anyOf": [{"required": ["b"]}, {"required": ["a"]}],
            "required": ["a"],
            "$defs": {"a": INTEGER},
        }
    )
    assert tool.parameters == {"a": {"type": "integer", "default": 1}, "b": {}, "c": TEXT}
    assert tool.required == {"a", "c"}
    assert not tool.allows_more_arguments


@pytest.mark.parametrize(
    ("schema", "needs_a_value"),
    [
        (TEXT, True),
        ({}, True),
        (True, True),
        ({"enum": ["a"]}, True),
        ({"type": "string", "enum": ["a", None]}, True),
        ({"type": ["string", "null"]}, False),
        (NULL, False),
        ({"enum": ["a", None]}, False),
        ({"anyOf": [TEXT, NULL]}, False),
        ({"$ref": "#/$defs/a"}, False),
        ({"type": "string", "nullable": True}, False),
    ],
)
def test_a_required_argument_needs_a_value_unless_its_schema_names_null(schema: Json, needs_a_value: bool) -> None:
    tool = argument(schema, required=["x"], **{"$defs": {"a": {"type": ["integer", "null"]}}})
    assert ("x" in tool.required) is needs_a_value
    assert tool.check({})


@pytest.mark.parametrize(
    ("schema", "is_open"),
    [
        ({}, False),
        ({"additionalProperties": False}, False),
        ({"additionalProperties": True}, True),
        ({"additionalProperties": TEXT}, True),
        ({"patternProperties": {"^a": TEXT}}, True),
        ({"allOf": [{"additionalProperties": True}]}, True),
    ],
)
def test_a_tool_is_open_only_where_it_says_so(schema: dict[str, Json], is_open: bool) -> None:
    assert compiled(schema).allows_more_arguments is is_open


DEEP = compiled(
    {
        "properties": {
            "address": {"$ref": "#/$defs/Address", "description": "where to"},
            "maybe": {"anyOf": [{"$ref": "#/$defs/Address"}, NULL], "default": None},
            "stops": {"type": "array", "items": {"$ref": "#/$defs/Address"}},
            "pair": {"type": "array", "prefixItems": [INTEGER, TEXT], "items": NUMBER},
            "more": {"allOf": [{"$ref": "#/$defs/Address"}, {"properties": {"floor": INTEGER}, "required": ["floor"]}]},
            "free": {"type": "object"},
            "by_name": {"type": "object", "additionalProperties": INTEGER},
            "pet": PETS,
            "a/b~c": INTEGER,
        },
        "$defs": {"Address": ADDRESS},
    }
)


@pytest.mark.parametrize(
    ("path", "names", "required"),
    [
        (("address",), {"zip", "city"}, {"zip"}),
        (("maybe",), {"zip", "city"}, {"zip"}),
        (("stops", 7), {"zip", "city"}, {"zip"}),
        (("more",), {"zip", "city", "floor"}, {"zip", "floor"}),
        (("pet",), {"kind", "lives", "trick"}, set()),
        (("free",), set(), set()),
        (("by_name",), set(), set()),
        (("by_name", "x"), set(), set()),
        (("pair", 0), set(), set()),
        (("stops", "x"), set(), set()),
        (("address", 0), set(), set()),
        (("nope",), set(), set()),
        (("address", "zip", "deeper"), set(), set()),
    ],
)
def test_the_properties_of_an_object_are_found(
    path: tuple[str | int, ...], names: set[str], required: set[str]
) -> None:
    found = DEEP.properties_at(path)
    assert found.schemas.keys() == names
    assert found.required == required


def test_the_properties_at_the_top_are_the_arguments() -> None:
    assert DEEP.properties_at(()) == (DEEP.parameters, DEEP.required)


def test_the_schema_of_a_property_holds_what_it_refers_to_and_what_stands_beside() -> None:
    schema = DEEP.properties_at(())
    assert schema.schemas["address"] == {**ADDRESS, "description": "where to"}
    assert DEEP.properties_at(("stops", 3)).schemas["city"] == TEXT


@pytest.mark.parametrize(
    ("path", "value", "messages"),
    [
        (("address", "zip"), "1", []),
        (("address", "zip"), 1, ["`address.zip` must be a string, not the integer 1"]),
        (("address",), {"zip": "a"}, ["`address.zip` must match the pattern '^[0-9]+$', unlike 'a'"]),
        (("address", "zp"), "1", ["`address.zp` is not a property of `address`; did you mean `zip`?"]),
        (("adress",), "1", ["`adress` is not an argument of this tool; did you mean `address`?"]),
        (("maybe",), None, []),
        (("maybe",), "a", ["`maybe` must be an object or null, not the string 'a'"]),
        (("maybe", "zip"), 3, ["`maybe.zip` must be a string, not the integer 3"]),
        (
            ("stops", 2),
            {"zip": "1", "citi": "x"},
            ["`stops[2].citi` is not a property of `stops[2]`; did you mean `city`?"],
        ),
        (("pair", 0), 1.0, ["`pair[0]` must be an integer, not the number 1.0"]),
        (("pair", 5), "x", ["`pair[5]` must be a number, not the string 'x'"]),
        (("by_name", "x"), 1.0, ["`by_name.x` must be an integer, not the number 1.0"]),
        (("free", "x"), 1.0, []),
        (("pet", "kind"), "cow", []),
        (("pet", "wings"), 2, ["`pet.wings` is not a property of `pet`"]),
        (("a/b~c",), "x", ["`['a/b~c']` must be an integer, not the string 'x'"]),
        (("address", "zip"), "\ud800", ["`address.zip` contains a lone surrogate, which is not a character"]),
        ((), {"pair": [1, "a"]}, []),
    ],
)
def test_a_value_is_checked_at_its_place(path: tuple[str | int, ...], value: Json, messages: list[str]) -> None:
    findings = DEEP.check_at(path, value)
    assert [finding.message for finding in findings] == messages
    assert all(finding.path[: len(path)] == path for finding in findings)


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=8)
    | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=3) | st.integers(0, 3) | st.sampled_from(["zip", "kind", "kids"]), inner, max_size=4
        )
    ),
    max_leaves=15,
)
PARTS: list[Json] = [
    TEXT,
    INTEGER,
    NUMBER,
    NULL,
    ADDRESS,
    PETS,
    {"enum": [1, "a"]},
    {"minimum": 2},
    {"$ref": "#/$defs/n"},
]
ANY_SCHEMA = st.recursive(
    st.sampled_from(PARTS),
    lambda inner: (
        st.builds(lambda part: {"type": "array", "items": part}, inner)
        | st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, min_size=1, max_size=3))
        | st.builds(lambda parts: {"oneOf": parts}, st.lists(inner, min_size=1, max_size=3))
        | st.builds(lambda parts: {"allOf": parts}, st.lists(inner, min_size=1, max_size=2))
        | st.builds(lambda part: {"not": part}, inner)
        | st.builds(lambda part: {"type": "object", "properties": {"zip": part, "kids": part}}, inner)
    ),
    max_leaves=6,
)
NODES: dict[str, Json] = {"n": {"anyOf": [INTEGER, {"type": "array", "items": {"$ref": "#/$defs/n"}}]}}


@given(ANY_SCHEMA, ANYTHING)
@example({"anyOf": [{"$ref": "#/$defs/n"}]}, 0.0)
def test_any_value_under_any_schema_is_good_or_explained(schema: Json, value: Any) -> None:
    tool = argument(schema, **{"$defs": NODES})
    findings = tool.check({"x": value})
    assert all(finding.message.isprintable() and finding.path[:1] == ("x",) for finding in findings)
    assert bool(tool.check_at(("x",), value)) == bool(findings)
    try:
        json.dumps(value, allow_nan=False).encode()
    except (TypeError, ValueError):
        return
    assert tool.check({"x": json.loads(json.dumps(value))}) == findings or any(
        isinstance(key, int) for key in flat(value)
    )


def flat(value: Any) -> list[Any]:
    """All keys in a value."""
    if isinstance(value, dict):
        return [*value, *(key for item in value.values() for key in flat(item))]
    return [key for item in value for key in flat(item)] if isinstance(value, list) else []


@given(ANY_SCHEMA)
def test_making_a_schema_strict_never_breaks_it(schema: Json) -> None:
    root = normalise({"properties": {"x": schema}, "$defs": NODES})
    assert isinstance(compiled(root).check({}), list)
