"""Stricter than JSON Schema where a model's call is at stake.

An argument that nobody declared is an error, and 1.0 is no integer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pytest_fcall.core import Json
from pytest_fcall.schema.formats import add_bounds
from pytest_fcall.schema.keywords import Way, rebuilt
from pytest_fcall.schema.pointers import in_place

INTEGER: Final = "fcall:integer"
"""The keyword that stands beside `type: integer` in a strict schema."""

_Role = Literal["value", "piece", "condition"]
"""What a schema is to the one around it. A `value` describes something of its own and can be closed. A `piece`
says a further word on the same value: an object may be declared in several. A `condition` only asks a question
and must stay as it was asked."""

_PIECES = frozenset({"$defs", "allOf", "anyOf", "definitions", "dependentSchemas", "else", "oneOf", "then"})
_CONDITIONS = frozenset({"contains", "if", "not", "propertyNames"})
_UNIONS = frozenset({"anyOf", "oneOf"})
_DECLARING = frozenset({"$ref", "allOf", "dependentSchemas", "if", "patternProperties", "properties"})
_OPENINGS = frozenset({"additionalProperties", "unevaluatedProperties"})
_ANNOTATIONS = frozenset({"$comment", "default", "description", "example", "examples", "title"})


class Integer:
    """The keyword as jsonschema_rs wants it: refuses floats, whole ones too."""

    def __init__(self, parent: object, value: object, path: object) -> None:
        pass

    def validate(self, instance: object) -> None:
        """Raise a ValueError for a whole float; all others break `type` already."""
        if type(instance) is float and instance.is_integer():
            raise ValueError


def strict(root: Mapping[str, Json]) -> dict[str, Json]:
    """The schema that arguments are really checked against.

    Every part stands where it stands in `root`, so that pointers and error paths hold in both.
    """
    return _closed(_whole(root, root, "piece"))


def opens_itself(schema: Mapping[str, Json]) -> bool:
    """Whether an object says that it takes more than the properties it lists."""
    return any(schema.get(key, False) is not False for key in _OPENINGS)


def _strict(root: Mapping[str, Json], schema: Json, role: _Role) -> Json:
    return _whole(root, schema, role) if isinstance(schema, Mapping) else schema


def _whole(root: Mapping[str, Json], schema: Mapping[str, Json], role: _Role) -> dict[str, Json]:
    union = role == "value" and not _DECLARING & schema.keys()

    def inner(way: Way, child: Json) -> Json:
        key = way[0]
        if role == "condition" or key in _CONDITIONS:
            return _strict(root, child, "condition")
        return _strict(root, child, "piece" if key in _PIECES and not (union and key in _UNIONS) else "value")

    out = {key: value for key, value in rebuilt(schema, inner).items() if key not in _ANNOTATIONS}
    if _only_integers(schema.get("type")):
        out[INTEGER] = True
    if out.get("additionalProperties") is False:
        out.setdefault("properties", {})  # jsonschema_rs names no key where an object lists none
    add_bounds(out)
    if role == "value" and not (union and _UNIONS & schema.keys()) and _lists_properties(root, schema):
        return _closed(out)
    return out


def _closed(schema: dict[str, Json]) -> dict[str, Json]:
    if not _OPENINGS & schema.keys():
        schema["unevaluatedProperties"] = False
    return schema


def _lists_properties(root: Mapping[str, Json], schema: Mapping[str, Json]) -> bool:
    return any(piece.get("properties") for piece, _ in in_place(root, schema))


def _only_integers(kinds: Json) -> bool:
    if isinstance(kinds, list):
        return "integer" in kinds and "number" not in kinds
    return kinds == "integer"
