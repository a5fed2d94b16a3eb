"""The parameters of a tool, compiled: whether arguments fit, and if not, why."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import Final, NamedTuple

from jsonschema_rs import Validator, ValidatorMap

from pytest_fcall.core import Json, Tool
from pytest_fcall.core.identity_key import IdentityKey
from pytest_fcall.schema.dialect import normalise
from pytest_fcall.schema.findings import (
    Depths,
    Explainer,
    Finding,
    explicable_depths,
    fit_for_json,
    is_deeper,
    too_deep_to_explain,
    unexpected_argument,
)
from pytest_fcall.schema.traversal import (
    Path,
    UndeclaredError,
    applied_schemas,
    locate_schema,
    look_up,
    object_form,
    pointer,
    resolve_references,
)
from pytest_fcall.schema.validator import (
    allows_more_properties,
    compile_part_validators,
    compile_validator,
    validation_schema,
)

_PLACES: Final = 1024
"""How many places of a schema are kept once found: cases speak of the same few, models of any number."""


class Properties(NamedTuple):
    """What an object may hold: the schemas of its properties, and the names of those that must have a value.

    One that must be given but may be null need have no value: some wires can say in no other way that it is optional.
    """

    schemas: Mapping[str, Mapping[str, Json]]
    required: frozenset[str]


NO_PROPERTIES: Final = Properties({}, frozenset())


class ToolSchema:
    """What a tool's arguments must be. Made by `tool_schema`, from normal parameters."""

    def __init__(self, parameters: Mapping[str, Json]) -> None:
        self._root = parameters
        self._strict = validation_schema(self._root)
        self._validator = compile_validator(self._strict)
        self._located = lru_cache(maxsize=_PLACES)(partial(locate_schema, self._strict))
        self._known_at = lru_cache(maxsize=_PLACES)(self._find_properties)
        self.parameters, self.required = self._properties_of(self._root)
        """The schema of each argument that has one, and the arguments that every call must give."""
        certain = applied_schemas(self._root, self._root, through=("allOf",))
        self.allows_more_arguments = any(
            allows_more_properties(piece) or piece.get("patternProperties") for piece, _ in certain
        )
        """Whether arguments of any other name may be given."""

    def check(self, arguments: Mapping[str, Json]) -> list[Finding]:
        """All the ways in which `arguments` break the schema. Never raises, whatever a model made up."""
        return self._check(self._validator, arguments)

    def check_at(self, path: Sequence[str | int], value: Json) -> list[Finding]:
        """All the ways in which `value` cannot stand at `path` of the arguments."""
        try:
            way = self._located(tuple(path))
        except UndeclaredError as error:
            return [unexpected_argument(error.path, error.known, None)]
        validator = None if way is None else self._parts.get(pointer(way))
        return [] if validator is None or way is None else self._check(validator, value, way, tuple(path))

    def properties_at(self, path: Path) -> Properties:
        """The properties of the object at `path` of the arguments; none where the schema says nothing of it.

        References are followed, and of a union with one kind of object in it, that object is meant.
        """
        return self._known_at(path)

    def _check(self, validator: Validator, value: Json, base: Path = (), at: Path = ()) -> list[Finding]:
        unfit: list[Finding] = []
        fitted = fit_for_json(value, at, unfit)
        if not unfit and validator.is_valid(fitted):
            return []
        told = {finding.path for finding in unfit}
        found = self._explained(validator, fitted, base, at)
        return [*unfit, *(finding for finding in found if told.isdisjoint(_ways_to(finding.path)))]

    def _explained(self, validator: Validator, value: Json, base: Path, at: Path) -> list[Finding]:
        """What is wrong with `value`, as far as it is not too deep for that; the call's arguments each on its own."""
        if not is_deeper(value, self._explicable):
            return Explainer(self._strict, value, base, at).findings(validator.iter_errors(value))
        if at or not isinstance(value, dict):
            return [too_deep_to_explain(at, value)]
        deep = {name: item for name, item in value.items() if is_deeper({name: item}, self._explicable)}
        rest = {name: item for name, item in value.items() if name not in deep}
        found = self._explained(validator, rest, base, at)
        told = [finding for finding in found if finding.kind != "missing_argument" or finding.path[0] not in deep]
        told += [finding for name, item in deep.items() for finding in self.check_at((name,), item)]
        return told or [too_deep_to_explain(at, value)]

    @cached_property
    def _explicable(self) -> Depths:
        return explicable_depths(self._strict)

    @cached_property
    def _parts(self) -> ValidatorMap:
        return compile_part_validators(self._strict)

    def _find_properties(self, path: Path) -> Properties:
        try:
            way = self._located(path)
        except UndeclaredError:
            return NO_PROPERTIES
        found = None if way is None else look_up(self._root, way)
        if not isinstance(found, Mapping):
            return NO_PROPERTIES
        return self._properties_of(object_form(self._root, resolve_references(self._root, found)))

    def _properties_of(self, schema: Mapping[str, Json]) -> Properties:
        named = (piece.get("properties") for piece, _ in applied_schemas(self._root, schema))
        schemas = {
            name: resolve_references(self._root, inner) if isinstance(inner, Mapping) else {}
            for properties in named
            if isinstance(properties, Mapping)
            for name, inner in properties.items()
        }
        certain = applied_schemas(self._root, schema, through=("allOf",))
        required = {name for piece, _ in certain for name in _strings(piece.get("required"))}
        return Properties(schemas, frozenset(name for name in required if not self._names_null(schemas.get(name))))

    def _names_null(self, schema: Json) -> bool:
        return any(_is_null_named(piece) for piece, _ in applied_schemas(self._root, schema))


def tool_schema(tool: Tool) -> ToolSchema:
    """The compiled parameters of `tool`, made once for equal schemas; a SchemaError where they are no valid schema."""
    return _compiled(IdentityKey(tool.parameters))


@lru_cache(maxsize=4096)
def _compiled(parameters: IdentityKey[Mapping[str, Json]]) -> ToolSchema:
    return _compiled_text(json.dumps(normalise(parameters.it)))


@lru_cache(maxsize=1024)
def _compiled_text(parameters: str) -> ToolSchema:
    return ToolSchema(json.loads(parameters))


def _ways_to(path: Path) -> Iterator[Path]:
    return (path[:length] for length in range(len(path) + 1))


def _strings(value: Json) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _is_null_named(schema: Mapping[str, Json]) -> bool:
    kinds = schema.get("type")
    if kinds is None:
        options = schema.get("enum")
        return isinstance(options, list) and None in options
    return kinds == "null" or "null" in _strings(kinds)
