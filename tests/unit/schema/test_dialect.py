"""Schemas of every dialect become JSON Schema 2020-12."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_fcall.core import Json
from pytest_fcall.schema.dialect import normalise
from pytest_fcall.schema.errors import SchemaError


def property_of(schema: Json) -> Json:
    """What becomes of the schema of one argument."""
    return normalise({"type": "object", "properties": {"x": schema}})["properties"]["x"]  # type: ignore[call-overload,index]  # just made


@pytest.mark.parametrize(
    ("given_type", "wanted"),
    [
        *[(name, "object") for name in ("object", "dict", "OBJECT", "HashMap", "Hashtable")],
        *[(name, "array") for name in ("array", "list", "tuple", "ARRAY", "ArrayList", "Array")],
        *[(name, "number") for name in ("number", "float", "double", "NUMBER")],
        *[(name, "integer") for name in ("integer", "int", "long", "short", "byte", "INTEGER")],
        *[(name, "string") for name in ("string", "str", "String", "char", "STRING")],
        *[(name, "boolean") for name in ("boolean", "bool", "Boolean", "BOOLEAN")],
        *[(name, "null") for name in ("null", "NULL", "None")],
    ],
)
def test_types_of_other_languages_are_known(given_type: str, wanted: str) -> None:
    assert property_of({"type": given_type}) == {"type": wanted}


@pytest.mark.parametrize(
    ("given_type", "wanted"),
    [
        *[(name, "array") for name in ("Array", "Set", "HashSet", "LinkedList", "Vector", "Queue", "Stack", "Deque")],
        *[(name, "array") for name in ("Collection", "Iterable", "Sequence", "frozenset")],
        *[(name, "object") for name in ("Map", "TreeMap", "LinkedHashMap", "Dictionary", "Record", "Object")],
        *[(name, "integer") for name in ("Bigint", "BigInteger", "int32", "int64", "uint", "uint8", "Long", "Byte")],
        *[(name, "number") for name in ("BigDecimal", "Number", "float32", "float64", "Double", "Float")],
        *[(name, "string") for name in ("Character", "CharSequence", "String")],
        ("undefined", "null"),
    ],
)
def test_classes_of_java_and_javascript_are_known(given_type: str, wanted: str) -> None:
    assert property_of({"type": given_type}) == {"type": wanted}


@pytest.mark.parametrize(
    ("given_type", "wanted"),
    [
        ("ArrayList<String>", {"type": "array", "items": {"type": "string"}}),
        ("String[]", {"type": "array", "items": {"type": "string"}}),
        ("int[][]", {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}),
        ("List[int]", {"type": "array", "items": {"type": "integer"}}),
        ("list[ float ]", {"type": "array", "items": {"type": "number"}}),
        (
            "List<Map<String, Integer>>",
            {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "integer"}}},
        ),
        ("HashMap<String, Integer>", {"type": "object", "additionalProperties": {"type": "integer"}}),
        (
            "Dict[str, List[int]]",
            {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}},
        ),
        ("Dict[str, Any]", {"type": "object", "additionalProperties": {}}),
        ("Tuple[int, str]", {"type": "array"}),
        ("List<T>", {"type": "array"}),
        ("ArrayList<?>", {"type": "array"}),
        ("Array<any>", {"type": "array", "items": {}}),
    ],
)
def test_a_type_with_the_type_of_its_items_says_both(given_type: str, wanted: Json) -> None:
    assert property_of({"type": given_type}) == wanted


def test_a_list_of_types_may_hold_one_with_the_type_of_its_items() -> None:
    assert property_of({"type": ["List[int]", "null"]}) == {"type": ["array", "null"], "items": {"type": "integer"}}


def test_items_that_are_described_stand_before_those_in_the_name_of_the_type() -> None:
    schema: Json = {"type": "ArrayList<String>", "items": {"type": "String", "description": "a name"}}
    assert property_of(schema) == {"type": "array", "items": {"type": "string", "description": "a name"}}


@pytest.mark.parametrize(
    "name", ["Foo<int>", "<int>", "List<int", "[int]", "a" * 100_000 + "[]", "list" + "[]" * 50_000]
)
def test_a_name_that_only_looks_like_a_type_is_none(name: str) -> None:
    with pytest.raises(SchemaError, match="not a type of JSON Schema"):
        property_of({"type": name})


@pytest.mark.parametrize("name", ["any", "Any", "", "TYPE_UNSPECIFIED"])
def test_any_says_nothing_about_the_type(name: str) -> None:
    assert property_of({"type": name, "description": "d"}) == {"description": "d"}
    assert property_of({"type": [name, "string"]}) == {}


@pytest.mark.parametrize(
    ("schema", "wanted"),
    [
        pytest.param({"type": ["STRING", "NULL"]}, {"type": ["string", "null"]}, id="list of types"),
        pytest.param({"type": "string", "nullable": True}, {"type": ["string", "null"]}, id="nullable"),
        pytest.param({"type": "string", "nullable": False}, {"type": "string"}, id="not nullable"),
        pytest.param({"type": ["string", "null"], "nullable": True}, {"type": ["string", "null"]}, id="null twice"),
        pytest.param(
            {"type": "string", "enum": ["a"], "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
            id="nullable enum",
        ),
        pytest.param({"enum": ["a"], "nullable": True}, {"enum": ["a", None]}, id="nullable enum without type"),
        pytest.param(
            {"$ref": "#/$defs/a", "nullable": True, "description": "d", "default": None},
            {"description": "d", "default": None, "anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]},
            id="nullable reference",
        ),
        pytest.param({"nullable": True}, {}, id="nullable anything"),
        pytest.param(
            {"type": "number", "minimum": 0, "exclusiveMinimum": True},
            {"type": "number", "exclusiveMinimum": 0},
            id="exclusive minimum of OpenAPI 3.0",
        ),
        pytest.param(
            {"type": "number", "maximum": 9, "exclusiveMaximum": False},
            {"type": "number", "maximum": 9},
            id="inclusive maximum of OpenAPI 3.0",
        ),
        pytest.param({"exclusiveMinimum": 3}, {"exclusiveMinimum": 3}, id="exclusive minimum of today"),
        pytest.param(
            {"type": "array", "items": [{"type": "float"}, True], "additionalItems": {"type": "int"}},
            {"type": "array", "items": {"type": "integer"}, "prefixItems": [{"type": "number"}, True]},
            id="list of items",
        ),
        pytest.param({"minItems": "2", "maxLength": "07"}, {"minItems": 2, "maxLength": 7}, id="counts as strings"),
        pytest.param(
            {"type": "dict", "properties": {"a": {"type": "int", "required": True}, "b": {"required": False}}},
            {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]},
            id="required inside the property",
        ),
        pytest.param(
            {"type": "string", "default": "x", "enum": ["x", "y"], "description": "d", "example": "y", "xml": {"a": 1}},
            {"type": "string", "default": "x", "enum": ["x", "y"], "description": "d", "example": "y", "xml": {"a": 1}},
            id="words are kept",
        ),
        pytest.param({"default": {"type": "dict"}}, {"default": {"type": "dict"}}, id="values are no schemas"),
        pytest.param({"default": None, "title": None}, {"default": None}, id="null is no word"),
        pytest.param({"anyOf": [{"type": "int"}, {"type": "any"}]}, {"anyOf": [{"type": "integer"}, {}]}, id="unions"),
        pytest.param(
            {"additionalProperties": {"type": "float"}, "not": {"type": "dict"}},
            {"additionalProperties": {"type": "number"}, "not": {"type": "object"}},
            id="schemas inside",
        ),
    ],
)
def test_each_dialect_is_put_into_todays_words(schema: Json, wanted: Json) -> None:
    assert property_of(schema) == wanted


def test_definitions_of_older_drafts_still_hold_what_refers_to_them() -> None:
    schema = normalise(
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "properties": {"a": {"$ref": "#/definitions/a"}},
            "definitions": {"a": {"type": "float"}},
        }
    )
    assert schema == {
        "type": "object",
        "properties": {"a": {"$ref": "#/definitions/a"}},
        "definitions": {"a": {"type": "number"}},
    }


@pytest.mark.parametrize("schema", [None, {}, {"type": "object"}, {"type": "dict"}, {"type": ["object", "null"]}])
def test_nothing_is_an_object_without_properties(schema: Json) -> None:
    assert normalise(schema) == {"type": "object", "properties": {}}


def test_an_argument_that_is_required_but_not_described_may_have_any_value() -> None:
    schema = normalise({"properties": {"a": {}}, "required": ["a", "b"]})
    assert schema["properties"] == {"a": {}, "b": {}}


def test_the_given_schema_is_left_as_it_is() -> None:
    given_schema: dict[str, Any] = {"type": "dict", "properties": {"a": {"type": "float", "nullable": True}}}
    normalise(given_schema)
    assert given_schema == {"type": "dict", "properties": {"a": {"type": "float", "nullable": True}}}


@pytest.mark.parametrize(
    ("schema", "path", "message"),
    [
        ("string", (), "not the string 'string'"),
        ([], (), "not a list"),
        ({"type": "array"}, ("type",), "of type object, not array"),
        ({"type": "objekt"}, ("type",), "`objekt` is not a type"),
        ({"type": {"a": 1}}, ("type",), "a list of them"),
        ({"type": []}, ("type",), "a list of them"),
        ({"type": [1]}, ("type",), "the integer 1"),
        ({"properties": []}, ("properties",), "mapping of names"),
        ({"properties": {"a": "string"}}, ("properties", "a"), "a schema must be a mapping"),
        ({"properties": {"a": {"type": "strin"}}}, ("properties", "a", "type"), "`strin`"),
        ({"properties": {"a": {"items": [{"type": "x"}]}}}, ("properties", "a", "items", 0, "type"), "`x`"),
        ({"properties": {1: {}}}, ("properties",), "the key 1 is not a string"),
        ({"anyOf": {}}, ("anyOf",), "a list of schemas"),
        ({"properties": {"a": {"default": float("nan")}}}, ("properties", "a", "default"), "nan"),
        ({"properties": {"a": {"enum": [{1, 2}]}}}, ("properties", "a", "enum", 0), "a Python set"),
        ({"properties": {"a": {"const": 10**5000}}}, ("properties", "a", "const"), "huge number"),
    ],
)
def test_what_cannot_be_a_schema_is_told_with_its_place(schema: Any, path: tuple[str | int, ...], message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        normalise(schema)
    assert caught.value.path == path
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("name", "hint"),
    [("strin", "`string`"), ("Intger", "`integer`"), ("zzz", "the types are")],
)
def test_a_misspelt_type_is_mended_in_the_hint(name: str, hint: str) -> None:
    with pytest.raises(SchemaError) as caught:
        property_of({"type": name})
    assert hint in caught.value.hint


@pytest.mark.parametrize("key", ["items", "not", "default", "x"])
def test_bottomless_schemas_are_refused(key: str) -> None:
    schema: Json = {}
    for _ in range(3000):
        schema = {key: schema}
    with pytest.raises(SchemaError, match="too deeply"):
        property_of(schema)


KEYS = st.sampled_from(
    ["type", "properties", "items", "required", "enum", "nullable", "anyOf", "minimum", "exclusiveMinimum", "$ref", "x"]
)
SCHEMAS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from(["string", "dict", "float", "any", "#/x", "a"])
    | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=25,
)


@given(SCHEMAS)
@example({"minimum": False, "exclusiveMinimum": True})
def test_normal_schemas_are_normal_already(schema: Json) -> None:
    try:
        once = normalise(schema)
    except SchemaError:
        return
    assert normalise(once) == once


@given(SCHEMAS)
def test_types_are_those_of_json_schema_afterwards(schema: Json) -> None:
    try:
        found = normalise(schema)
    except SchemaError:
        return
    only_types = {
        "$ref": "#/$defs/schema",
        "$defs": {
            "schema": {
                "properties": {
                    "type": {"$ref": "#/$defs/types"},
                    "properties": {"additionalProperties": {"$ref": "#/$defs/schema"}},
                    "items": {"$ref": "#/$defs/schema"},
                    "anyOf": {"items": {"$ref": "#/$defs/schema"}},
                }
            },
            "types": {
                "anyOf": [
                    {"$ref": "#/$defs/name"},
                    {"type": "array", "items": {"$ref": "#/$defs/name"}, "uniqueItems": True, "minItems": 1},
                ]
            },
            "name": {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]},
        },
    }
    assert jsonschema_rs.is_valid(only_types, found)
