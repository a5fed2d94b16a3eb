from __future__ import annotations

from typing import Any

import pytest

from pytest_fcall.schema.dialect import normalise
from pytest_fcall.schema.wire_parameters import object_root

TEXT = {"type": "string"}
NUMBER = {"type": "number"}


def by_id() -> dict[str, Any]:
    return {"type": "object", "properties": {"id": NUMBER}, "required": ["id"]}


def by_name() -> dict[str, Any]:
    return {"type": "object", "properties": {"name": TEXT}, "required": ["name"]}


def root(parameters: object) -> tuple[dict[str, Any], list[str]]:
    changes: list[str] = []
    return object_root(normalise(parameters), changes), changes  # type: ignore[arg-type]  # written as people do


@pytest.mark.parametrize("parameters", [None, {}, {"type": "object"}, {"type": "dict", "properties": {}}])
def test_a_tool_without_parameters_has_an_object_without_properties(parameters: object) -> None:
    assert root(parameters) == ({"type": "object", "properties": {}}, [])


@pytest.mark.parametrize("union", ["anyOf", "oneOf"])
def test_a_union_becomes_one_object_that_requires_what_all_branches_require(union: str) -> None:
    paged = {"page": NUMBER}
    out, changes = root(
        {
            "type": "object",
            union: [
                {"properties": by_id()["properties"] | paged, "required": ["id", "page"]},
                {"properties": by_name()["properties"] | paged, "required": ["name", "page"]},
            ],
        }
    )
    assert out == {
        "type": "object",
        "properties": {"id": NUMBER, "page": NUMBER, "name": TEXT},
        "required": ["page"],
    }
    assert changes == [f"`{union}` at the root became one object"]


def test_all_of_becomes_one_object_that_requires_everything() -> None:
    out, _ = root({"allOf": [by_id(), by_name()]})
    assert out == {"type": "object", "properties": {"id": NUMBER, "name": TEXT}, "required": ["id", "name"]}


def test_what_stands_beside_a_union_stays() -> None:
    out, _ = root({**by_id(), "description": "One of them.", "anyOf": [by_name(), {"type": "object"}]})
    assert out["description"] == "One of them."
    assert out["required"] == ["id"]
    assert set(out["properties"]) == {"id", "name"}


def test_a_property_that_branches_see_differently_takes_either() -> None:
    out, _ = root({"oneOf": [{"properties": {"at": TEXT}}, {"properties": {"at": NUMBER}}]})
    assert out["properties"] == {"at": {"anyOf": [TEXT, NUMBER]}}


def test_a_root_elsewhere_is_brought_in() -> None:
    out, changes = root({"$ref": "#/$defs/Pet", "$defs": {"Pet": by_name()}})
    assert (out["properties"], out["required"]) == ({"name": TEXT}, ["name"])
    assert "$ref" not in out
    assert changes == []


def test_branches_elsewhere_are_brought_in() -> None:
    out, _ = root({"anyOf": [{"$ref": "#/$defs/Id"}, {"$ref": "#/$defs/Id"}], "$defs": {"Id": by_id()}})
    assert (out["properties"], out["required"]) == ({"id": NUMBER}, ["id"])


def test_a_root_that_holds_itself_comes_to_an_end() -> None:
    out, _ = root({"type": "object", "properties": {"id": NUMBER}, "anyOf": [{"$ref": "#"}, {"$ref": "#"}]})
    assert out["properties"] == {"id": NUMBER}


def test_branches_that_name_each_other_many_times_are_looked_at_once() -> None:
    doubled: dict[str, Any] = {f"D{depth}": {"anyOf": [{"$ref": f"#/$defs/D{depth + 1}"}] * 9} for depth in range(40)}
    out, _ = root({"anyOf": [{"$ref": "#/$defs/D0"}], "$defs": doubled | {"D40": by_id()}})
    assert (out["properties"], out["required"]) == ({"id": NUMBER}, ["id"])


@pytest.mark.parametrize(("key", "value"), [("enum", [{}]), ("not", {"required": ["a"]})])
def test_what_no_root_may_say_is_left_out_and_told(key: str, value: object) -> None:
    out, changes = root({"type": "object", "properties": {"a": TEXT}, key: value})
    assert out == {"type": "object", "properties": {"a": TEXT}}
    assert changes == [f"`{key}` at the root was left out"]


def test_a_list_of_anything_says_so() -> None:
    rows = {"type": "array", "items": {"type": ["array", "null"]}}
    out, changes = root({"type": "object", "properties": {"rows": rows, "ids": {"type": "array", "items": NUMBER}}})
    assert out["properties"]["rows"] == {"type": "array", "items": {"type": ["array", "null"], "items": {}}}
    assert out["properties"]["ids"] == {"type": "array", "items": NUMBER}
    assert changes == ["lists of anything got `items: {}`"]


def test_keywords_that_a_wire_can_ignore_are_left_alone() -> None:
    given = {"a": {"type": "string", "minLength": 1, "format": "city", "default": "Oslo", "x-own": 1}}
    assert root({"type": "object", "properties": given})[0]["properties"] == given
