"""Where JSON Schema keeps schemas inside schemas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from pytest_fcall.core import Json

Way: TypeAlias = tuple[str | int, ...]
"""The keyword, and inside it the index or name, under which a schema stands."""

ONE: Final = frozenset(
    {
        "additionalProperties",
        "contains",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Keywords whose value is a schema."""

MANY: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords whose value is a list of schemas."""

NAMED: Final = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
"""Keywords whose value is a mapping of names to schemas."""


def children(schema: Mapping[str, Json]) -> Iterator[tuple[Way, Json]]:
    """The schemas right inside `schema`, each with the way to it."""
    for key, value in schema.items():
        if key in ONE:
            yield (key,), value
        elif key in MANY and isinstance(value, list):
            yield from (((key, index), item) for index, item in enumerate(value))
        elif key in NAMED and isinstance(value, Mapping):
            yield from (((key, name), item) for name, item in value.items())


def schemas_in(schema: Json, way: Way = ()) -> Iterator[tuple[Way, Mapping[str, Json]]]:
    """A schema and all schemas inside it, each with the way to it."""
    if isinstance(schema, Mapping):
        yield way, schema
        for step, inner in children(schema):
            yield from schemas_in(inner, (*way, *step))


def rebuilt(schema: Mapping[str, Json], change: Callable[[Way, Json], Json]) -> dict[str, Json]:
    """A copy of `schema` in which `change(way, inner)` stands for each schema right inside it."""

    def entry(key: str, value: Json) -> Json:
        if key in ONE:
            return change((key,), value)
        if key in MANY and isinstance(value, list):
            return [change((key, index), item) for index, item in enumerate(value)]
        if key in NAMED and isinstance(value, Mapping):
            return {name: change((key, name), item) for name, item in value.items()}
        return value

    return {key: entry(key, value) for key, value in schema.items()}
