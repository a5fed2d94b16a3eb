from __future__ import annotations

from typing import Any

import pytest

from pytest_fcall.schema.dialect import normalise
from pytest_fcall.schema.wire_parameters import StrictModeError, object_root, strict_parameters

TEXT = {"type": "string"}


def strict(
    properties: object, required: tuple[str, ...] = (), /, **more: object
) -> tuple[dict[str, Any], bool, list[str]]:
    changes: list[str] = []
    given = normalise({"type": "object", "properties": properties, "required": list(required), **more})  # type: ignore[dict-item]  # written as people do
    out, nulls = strict_parameters(object_root(given, []), changes)
    return out, nulls, changes


def of(schema: object) -> Any:
    """What becomes of a required argument."""
    return strict({"a": schema}, ("a",))[0]["properties"]["a"]


def optional(schema: object) -> Any:
    """What becomes of an optional one."""
    return strict({"a": schema})[0]["properties"]["a"]


def test_all_is_required_and_nothing_else_is_allowed() -> None:
    inner = {"type": "object", "properties": {"x": TEXT, "y": TEXT}, "required": ["x"]}
    out, nulls, changes = strict({"at": inner, "on": {"type": "boolean"}}, ("at",))
    assert out["required"] == ["at", "on"]
    assert out["additionalProperties"] is False
    assert out["properties"]["at"] == {
        "type": "object",
        "properties": {"x": TEXT, "y": {"type": ["string", "null"]}},
        "required": ["x", "y"],
        "additionalProperties": False,
    }
    assert nulls
    assert changes == ["optional arguments are sent as required, with null for nothing"]


def test_what_is_required_already_needs_no_nulls() -> None:
    assert strict({"a": TEXT}, ("a",))[1:] == (False, [])


def test_no_parameters_are_an_empty_object() -> None:
    assert strict({})[0] == {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "there"),
    [
        ({"type": "string"}, {"type": ["string", "null"]}),
        ({"type": ["string", "integer"]}, {"type": ["string", "integer", "null"]}),
        ({"type": "string", "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"enum": ["a", 1]}, {"type": ["string", "integer", "null"], "enum": ["a", 1, None]}),
        ({"const": "a"}, {"anyOf": [{"const": "a", "type": "string"}, {"type": "null"}]}),
        ({"anyOf": [TEXT, {"type": "integer"}]}, {"anyOf": [TEXT, {"type": "integer"}, {"type": "null"}]}),
        ({"type": "array", "items": TEXT}, {"type": ["array", "null"], "items": TEXT}),
    ],
)
def test_an_optional_argument_may_be_null(schema: object, there: object) -> None:
    assert optional(schema) == there


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"]},
        {"type": "null"},
        {"type": ["string", "null"], "enum": ["a", None]},
        {"anyOf": [TEXT, {"type": "null"}]},
    ],
)
def test_an_argument_that_takes_null_already_stays(schema: object) -> None:
    out, nulls, _ = strict({"a": schema})
    assert (out["properties"]["a"], nulls) == (schema, False)


def test_null_among_types_but_not_among_choices_is_added_there() -> None:
    assert optional({"type": ["string", "null"], "enum": ["a"]}) == {"type": ["string", "null"], "enum": ["a", None]}


def test_an_optional_reference_is_that_or_null() -> None:
    out, _, _ = strict(
        {"pet": {"$ref": "#/$defs/Pet"}}, **{"$defs": {"Pet": {"type": "object", "properties": {"name": TEXT}}}}
    )
    assert out["properties"]["pet"] == {"anyOf": [{"$ref": "#/$defs/Pet"}, {"type": "null"}]}
    assert out["$defs"]["Pet"]["required"] == ["name"]
    assert out["$defs"]["Pet"]["additionalProperties"] is False


def test_a_reference_stands_alone() -> None:
    given = {"$ref": "#/$defs/Pet", "description": "Whose?"}
    out, _, _ = strict({"pet": given}, ("pet",), **{"$defs": {"Pet": TEXT}})
    assert out["properties"]["pet"] == {"description": "Whose?", "anyOf": [{"$ref": "#/$defs/Pet"}]}


def test_a_schema_that_holds_itself_stays_so() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    out, _, _ = strict({"head": {"$ref": "#/$defs/Node"}}, ("head",), **{"$defs": {"Node": node}})
    assert out["$defs"]["Node"]["properties"]["next"] == {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}


def test_one_of_becomes_any_of() -> None:
    assert of({"oneOf": [TEXT, {"type": "integer"}]}) == {"anyOf": [TEXT, {"type": "integer"}]}


def test_all_of_just_one_is_that_one() -> None:
    out, _, _ = strict(
        {"pet": {"allOf": [{"$ref": "#/$defs/Pet"}], "title": "Pet"}}, ("pet",), **{"$defs": {"Pet": TEXT}}
    )
    assert out["properties"]["pet"] == {"title": "Pet", "anyOf": [{"$ref": "#/$defs/Pet"}]}


def test_what_can_be_done_without_is_left_out_and_told() -> None:
    given = {
        "type": "string",
        "minLength": 1,
        "pattern": "^A",
        "default": "A",
        "format": "city",
        "description": "A city.",
    }
    out, _, changes = strict({"a": given}, ("a",))
    assert out["properties"]["a"] == {"type": "string", "pattern": "^A", "description": "A city."}
    assert changes == ["sent without `default`, `format`, `minLength`"]


def test_a_format_that_strict_mode_knows_stays() -> None:
    assert of({"type": "string", "format": "date"}) == {"type": "string", "format": "date"}


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        ({}, "`a` allows any value"),
        (True, "`a` allows any value"),
        (False, "`a` allows no value"),
        ({"description": "Whatever."}, "`a` allows any value"),
        ({"enum": [{"x": 1}]}, "`a` allows any value"),
        ({"type": "object"}, "`a` allows any keys"),
        ({"type": "object", "additionalProperties": TEXT}, "`a` allows any keys"),
        ({"type": "object", "properties": {"x": TEXT}, "additionalProperties": True}, "`a` allows any keys"),
        ({"type": ["object", "null"]}, "`a` allows any keys"),
        ({"type": "array"}, "`a[0]` allows any value"),
        ({"type": "array", "items": {"type": "array"}}, "`a[0][0]` allows any value"),
        ({"type": "array", "prefixItems": [TEXT]}, "`a` needs `prefixItems`"),
        ({"allOf": [TEXT, {"minLength": 1}]}, "`a` needs `allOf`"),
        ({"type": "object", "properties": {"x": {}}}, "`a.x` allows any value"),
        ({"anyOf": [TEXT, {}]}, "`a` allows any value"),
        ({"anyOf": [TEXT], "oneOf": [TEXT]}, "`a` needs `oneOf` beside another union"),
    ],
)
def test_what_strict_mode_cannot_say_is_told(schema: object, why: str) -> None:
    with pytest.raises(StrictModeError) as error:
        strict({"a": schema})
    assert str(error.value) == why


def test_a_root_that_takes_any_keys_is_told() -> None:
    with pytest.raises(StrictModeError, match="the root allows any keys"):
        strict({"a": TEXT}, additionalProperties=True)
