"""Functions that build JSON Schemas, so that the schema of case files reads like a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from pytest_fcall.core.values import Json

Schema: TypeAlias = dict[str, Json]


FILLED = r"^\{[^\W\d]\w*\}$"
"""A placeholder that a row of a matrix replaces; it is allowed where no other string is."""


def ref(name: str) -> Schema:
    """The definition called `name`."""
    return {"$ref": f"#/$defs/{name}"}


def obj(description: str, properties: Mapping[str, Schema], required: Sequence[str] = ()) -> Schema:
    """A mapping with these keys and no others."""
    return {
        "description": description,
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def mapping(description: str, values: Schema | bool = True) -> Schema:
    """A mapping with any keys."""
    return {"description": description, "type": "object", "additionalProperties": values}


def string(description: str, pattern: str | None = None) -> Schema:
    """A string."""
    text: Schema = {"description": description, "type": "string"}
    return text if pattern is None else text | {"pattern": pattern}


def integer(description: str, minimum: int) -> Schema:
    """An integer from `minimum` up."""
    return {"description": description, "type": "integer", "minimum": minimum}


def number(description: str, minimum: int, maximum: int | None = None) -> Schema:
    """A number from `minimum` to `maximum`."""
    schema: Schema = {"description": description, "type": "number", "minimum": minimum}
    return schema if maximum is None else schema | {"maximum": maximum}


def flag(description: str) -> Schema:
    """A boolean."""
    return {"description": description, "type": "boolean"}


def choice(description: str, *values: str) -> Schema:
    """One of these words."""
    return {"description": description, "type": "string", "enum": list(values)}


def array(description: str, items: Schema, least: int = 1) -> Schema:
    """A list with at least `least` items."""
    return {"description": description, "type": "array", "items": items, "minItems": least}


def either(description: str, *forms: Schema) -> Schema:
    """One of several forms."""
    return {"description": description, "anyOf": list(forms)}


def by_type(description: str, *forms: Schema) -> Schema:
    """One of several forms of different types, merged: editors then report the error of the form of that type."""
    merged = {key: value for form in forms for key, value in form.items()}
    return {**merged, "description": description, "type": [str(form["type"]) for form in forms]}


def or_word(schema: Schema, *words: str) -> Schema:
    """A value of the schema, or one of these words."""
    types: list[Json] = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    strings: Json = {"anyOf": [{"enum": list(words)}, {"pattern": FILLED}]}
    return {**schema, "type": [*types, "string"], "if": {"type": types}, "else": strings, "examples": list(words)}


def or_placeholder(schema: Schema) -> Schema:
    """A value of the schema, which has one type, or a placeholder."""
    return {**schema, "type": [str(schema["type"]), "string"], "pattern": FILLED}


def anything(description: str) -> Schema:
    """Any value."""
    return {"description": description}


def one_or_many(description: str, item: Schema) -> Schema:
    """One item, or a list of them."""
    return by_type(description, item, array("", item))


def any_key(*keys: str) -> Schema:
    """At least one of these keys is present."""
    return {"anyOf": [{"required": [key]} for key in keys]}


def keys_with_dollar(allowed: Sequence[str]) -> Schema:
    """Keys; of those that begin with a dollar sign, only these."""
    return {"if": {"pattern": r"^\$"}, "then": {"enum": list(allowed)}}
