"""What a schema lets in, whatever the case expects there: one sentence a row."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fcall.core import Json, Tool
from pytest_fcall.schema.sources.tool_data import tool_from_data
from tests.unit.matching.language import findings, judged

ANYTHING = {"$ignore": True}
NOT_GIVEN = object()
TYPE, SCHEMA, VALUE = "wrong_type x", "schema x", "wrong_value x"
MISSING, UNEXPECTED = "missing_argument x", "unexpected_argument x"

NODE: dict[str, Json] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
    "required": ["name"],
}
PAIR: Json = {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": False, "minItems": 2}
SHAPE: Json = {
    "oneOf": [
        {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind"]},
        {"type": "object", "properties": {"kind": {"const": "square"}, "a": {"type": "number"}}, "required": ["kind"]},
    ]
}

# sentence, schema of the argument x, what was given, what was expected, what is wrong
TYPES: list[tuple[Any, ...]] = [
    ("an integer serves as a number", {"type": "number"}, 3, 3),
    ("an integer serves as a number that is expected with a point", {"type": "number"}, 3, 3.0),
    ("a float serves as a number", {"type": "number"}, 3.5, 3.5),
    ("a whole float is no integer, whatever is expected", {"type": "integer"}, 3.0, ANYTHING, TYPE),
    (
        "a whole float is no integer in a list",
        {"type": "array", "items": {"type": "integer"}},
        [3.0],
        [3],
        f"{TYPE}[0]",
    ),
    ("true is no integer", {"type": "integer"}, True, ANYTHING, TYPE),
    ("true is no number", {"type": "number"}, True, ANYTHING, TYPE),
    ("1 is no boolean", {"type": "boolean"}, 1, ANYTHING, TYPE),
    ("the string true is no boolean", {"type": "boolean"}, "true", True, TYPE),
    ("a number word is no number", {"type": "integer"}, "three", ANYTHING, TYPE),
    ("a number in quotes is no number", {"type": "number"}, "3.5", 3.5, TYPE),
    ("a number is no string", {"type": "string"}, 3, "3", TYPE),
    ("JSON in a string is no object", {"type": "object"}, '{"a": 1}', {"a": 1}, TYPE),
    ("JSON in a string is no list", {"type": "array"}, "[1]", [1], TYPE),
    ("an object is no list", {"type": "array"}, {}, [], TYPE),
    ("null is no string", {"type": "string"}, None, ANYTHING, TYPE),
    ("null is a value of a nullable string", {"type": ["string", "null"]}, None, None),
    ("nullable: true is OpenAPI's word for it", {"type": "string", "nullable": True}, None, None),
    ("a union takes each of its types", {"type": ["integer", "string"]}, "5", "5"),
    ("a union does not make its types the same", {"type": ["integer", "string"]}, "5", 5, TYPE),
    ("a union takes no third type", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, [5], ANYTHING, TYPE),
    ("a whole float fits a union with number", {"type": ["integer", "number"]}, 3.0, 3),
    ("a choice is one of those listed", {"enum": ["a", "b"]}, "b", "b"),
    ("another word is no choice", {"enum": ["a", "b"]}, "c", ANYTHING, SCHEMA),
    ("a choice in other letters is another word", {"enum": ["Economy"]}, "ECONOMY", ANYTHING, SCHEMA),
    ("a constant is itself", {"const": "v1"}, "v1", ANYTHING),
    ("a constant is nothing else", {"const": "v1"}, "v2", ANYTHING, SCHEMA),
    ("a bound is kept", {"type": "integer", "minimum": 1, "maximum": 5}, 6, ANYTHING, SCHEMA),
    ("an exclusive bound excludes itself", {"type": "number", "exclusiveMinimum": 0}, 0, ANYTHING, SCHEMA),
    ("a multiple is one", {"type": "integer", "multipleOf": 5}, 7, {"$gt": 5}, SCHEMA),
    ("a length is kept", {"type": "string", "maxLength": 3}, "Oslo", {"$regex": ".*"}, SCHEMA),
    ("a pattern is kept", {"type": "string", "pattern": "^[A-Z]{3}$"}, "eur", {"$text": "EUR"}, SCHEMA),
    ("a format is kept", {"type": "string", "format": "date"}, "3 April 2026", {"$date": "2026-04-03"}, SCHEMA),
    ("a date in its format fits", {"type": "string", "format": "date"}, "2026-04-03", {"$date": "2026-04-03"}),
    ("an unknown format is only a word", {"type": "string", "format": "city"}, "Oslo", "Oslo"),
    ("an integer must fit its width", {"type": "integer", "format": "int32"}, 3_000_000_000, ANYTHING, SCHEMA),
    ("a list has as many items as it must", {"type": "array", "minItems": 1}, [], ANYTHING, SCHEMA),
    ("items may have to differ", {"type": "array", "uniqueItems": True}, ["a", "a"], ANYTHING, SCHEMA),
    ("a tuple has a type for each place", PAIR, [1, "a"], [1, "a"]),
    ("a tuple does not take them in another order", PAIR, ["a", 1], ANYTHING, f"{TYPE}[0]", f"{TYPE}[1]"),
    ("a tuple has no further places", PAIR, [1, "a", 2], ANYTHING, f"{SCHEMA}[2]"),
    ("a tuple has all its places", PAIR, [1], ANYTHING, SCHEMA),
    ("an object that lists its keys takes no others", NODE, {"name": "a", "age": 1}, ANYTHING, f"{UNEXPECTED}.age"),
    ("an object needs its required keys", NODE, {"kids": []}, ANYTHING, f"{MISSING}.name"),
    ("an object that lists none takes any", {"type": "object"}, {"a": 1}, {"a": 1}),
    (
        "a closed object takes none",
        {"type": "object", "additionalProperties": False},
        {"a": 1},
        ANYTHING,
        f"{UNEXPECTED}.a",
    ),
    ("further keys may be typed", {"additionalProperties": {"type": "integer"}}, {"a": "1"}, ANYTHING, f"{TYPE}.a"),
    ("names of keys may be bound", {"propertyNames": {"pattern": "^x_"}}, {"y": 1}, ANYTHING, f"{UNEXPECTED}.y"),
    ("one key may ask for another", {"dependentRequired": {"a": ["b"]}}, {"a": 1}, ANYTHING, f"{MISSING}.b"),
    ("a reference is followed", {"$ref": "#/$defs/node"}, {"name": 1}, ANYTHING, f"{TYPE}.name"),
    (
        "a schema that refers to itself is followed as deep as the value goes",
        {"$ref": "#/$defs/node"},
        {"name": "a", "kids": [{"name": "b", "kids": [{"nam": "c", "name": "d"}]}]},
        ANYTHING,
        f"{UNEXPECTED}.kids[0].kids[0].nam",
    ),
    ("the form that is meant is the one that is told", SHAPE, {"kind": "square", "a": "2"}, ANYTHING, f"{TYPE}.a"),
    ("one form's key is none of the other's", SHAPE, {"kind": "circle", "a": 2}, ANYTHING, f"{UNEXPECTED}.a"),
    ("$any excuses no wrong type", {"type": "integer"}, "3", {"$any": ["3", 3]}, TYPE),
    ("$not excuses no wrong type", {"type": "integer"}, "3", {"$not": 4}, TYPE),
    ("$each excuses no wrong type", {"type": "array", "items": {"type": "string"}}, [1], {"$each": 1}, f"{TYPE}[0]"),
    ("$json looks into a string, which must still be one", {"type": "string"}, {"a": 1}, {"$json": {"a": 1}}, TYPE),
    ("an optional argument may be left out under $optional", {"type": "integer"}, NOT_GIVEN, {"$optional": 3}),
    ("a list that may be empty must be given", {"type": "array"}, NOT_GIVEN, {"$unordered": []}, MISSING),
    ("an expected default may be left out", {"type": "integer", "default": 3}, NOT_GIVEN, 3),
    ("an expected value that is no default may not", {"type": "integer", "default": 4}, NOT_GIVEN, 3, MISSING),
    ("a nested default may be spelled out", {"properties": {"a": {"default": 1}}}, {"a": 1}, {}),
    ("a default by reference may be spelled out", {"properties": {"a": {"$ref": "#/$defs/one"}}}, {"a": 1}, {}),
    ("a default in allOf may be spelled out", {"allOf": [{"properties": {"a": {"default": 1}}}]}, {"a": 1}, {}),
    ("a default of another type is not spelled out", {"default": 1}, True, NOT_GIVEN, UNEXPECTED),
    ("a default is spelled out by an equal number", {"type": "number", "default": 1}, 1.0, NOT_GIVEN),
    ("nothing new is said by null", {"type": ["string", "null"]}, None, NOT_GIVEN),
    ("null is not the default", {"type": ["integer", "null"], "default": 5}, None, NOT_GIVEN, UNEXPECTED),
    ("null is no way to say the default", {"type": ["integer", "null"], "default": 5}, None, 5, VALUE),
    (
        "null beside another default is not left out",
        {"type": ["integer", "null"], "default": 5},
        None,
        {"$optional": 3},
        VALUE,
    ),
    ("null may be the default", {"type": ["integer", "null"], "default": None}, None, NOT_GIVEN),
]


@pytest.mark.parametrize(
    ("sentence", "schema", "given", "expected", "wrong"),
    [(*row[:4], list(row[4:])) for row in TYPES],
    ids=[row[0] for row in TYPES],
)
def test_an_argument_is_typed_as_its_sentence_says(
    sentence: str, schema: Json, given: Any, expected: Any, wrong: list[str]
) -> None:
    definitions: dict[str, Json] = {"node": NODE, "one": {"type": "integer", "default": 1}}
    tool = Tool("f", parameters={"type": "object", "properties": {"x": schema}, "$defs": definitions})
    assert wrongs(tool, given, expected) == wrong


def wrongs(tool: Tool, given: Any, expected: Any) -> list[str]:
    """What is wrong with the argument x, as `kind path`."""
    made, wanted = ({} if value is NOT_GIVEN else {"x": value} for value in (given, expected))
    return [
        found.replace("calls[0].args.", "") for found in findings(judged([{"f": made}], [{"f": wanted}], tools=[tool]))
    ]


# sentence, BFCL's schema of the argument x, what was given, what was expected, what is wrong
DIALECTS: list[tuple[Any, ...]] = [
    ("dict is an object", {"type": "dict"}, {"a": 1}, {"a": 1}),
    ("dict is no list", {"type": "dict"}, [1], ANYTHING, TYPE),
    (
        "dict has properties",
        {"type": "dict", "properties": {"a": {"type": "float"}}},
        {"a": "1"},
        ANYTHING,
        f"{TYPE}.a",
    ),
    ("float is a number", {"type": "float"}, 3, 3.0),
    ("float is no string", {"type": "float"}, "3.0", ANYTHING, TYPE),
    ("tuple is a list", {"type": "tuple", "items": {"type": "integer"}}, [1, 2], [1, 2]),
    ("a Python tuple is a list", {"type": "tuple", "items": {"type": "integer"}}, (1, 2), [1, 2]),
    ("tuple has items", {"type": "tuple", "items": {"type": "integer"}}, [1.0], ANYTHING, f"{TYPE}[0]"),
    ("any is anything", {"type": "any"}, [1, {"a": None}], [1, {"a": None}]),
    ("any does not make values equal", {"type": "any"}, "1", 1, TYPE),
    ("String is a string", {"type": "String"}, "a", "a"),
    ("char is a string", {"type": "char"}, "a", "a"),
    ("long is an integer", {"type": "long"}, 5, 5),
    ("long is no fraction", {"type": "long"}, 5.5, ANYTHING, TYPE),
    ("double is a number", {"type": "double"}, 5, 5),
    ("Bigint is an integer", {"type": "Bigint"}, 2**70, 2**70),
    ("Boolean is a boolean", {"type": "Boolean"}, "true", ANYTHING, TYPE),
    ("ArrayList is a list", {"type": "ArrayList", "items": {"type": "String"}}, ["a"], ["a"]),
    ("ArrayList has items", {"type": "ArrayList", "items": {"type": "String"}}, [1], ANYTHING, f"{TYPE}[0]"),
    ("ArrayList<Integer> has items too", {"type": "ArrayList<Integer>"}, ["a"], ANYTHING, f"{TYPE}[0]"),
    ("String[] has items too", {"type": "String[]"}, [1], ANYTHING, f"{TYPE}[0]"),
    ("HashMap is an object", {"type": "HashMap"}, {"a": 1}, {"a": 1}),
    ("HashMap<String, Integer> has values", {"type": "HashMap<String, Integer>"}, {"a": "1"}, ANYTHING, f"{TYPE}.a"),
    (
        "array of a nested array",
        {"type": "array", "items": {"type": "array", "items": {"type": "float"}}},
        [[1]],
        [[1.0]],
    ),
]


@pytest.mark.parametrize(
    ("sentence", "schema", "given", "expected", "wrong"),
    [(*row[:4], list(row[4:])) for row in DIALECTS],
    ids=[row[0] for row in DIALECTS],
)
def test_a_dialect_is_typed_as_its_sentence_says(
    sentence: str, schema: Json, given: Any, expected: Any, wrong: list[str]
) -> None:
    parameters: Json = {"type": "dict", "properties": {"x": schema}, "required": []}
    tool = tool_from_data({"name": "f", "description": "", "parameters": parameters})
    assert wrongs(tool, given, expected) == wrong


@pytest.mark.parametrize("schema", [{"type": ["string", "null"]}, {"anyOf": [{"type": "integer"}, {"type": "null"}]}])
def test_null_says_nothing_where_a_schema_can_say_optional_in_no_other_way(schema: Json) -> None:
    parameters: dict[str, Json] = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    tool = Tool("f", parameters=parameters)
    assert wrongs(tool, None, NOT_GIVEN) == []
    assert wrongs(tool, None, {"$optional": 1}) == []
    assert wrongs(tool, NOT_GIVEN, NOT_GIVEN) == [MISSING]
    assert wrongs(tool, "Oslo" if "type" in dict(schema) else 3, NOT_GIVEN) == [UNEXPECTED]  # type: ignore[arg-type]  # a mapping


def test_null_for_a_required_argument_of_any_type_is_given() -> None:
    tool = Tool("f", parameters={"type": "object", "properties": {"x": {}}, "required": ["x"]})
    assert wrongs(tool, None, NOT_GIVEN) == [UNEXPECTED]


def test_a_default_of_a_required_argument_is_not_meant_by_leaving_it_out() -> None:
    schema: dict[str, Json] = {"type": "object", "properties": {"x": {"default": 1}}}
    forbidden = {"calls": ["f"], "never": [{"f": {"x": 1}}]}
    for required, told in (([], ["forbidden_call calls[0]"]), (["x"], ["missing_argument calls[0].args.x"])):
        tool = Tool("f", parameters={**schema, "required": required})
        assert findings(judged([{"f": {}}], forbidden, tools=[tool])) == told
