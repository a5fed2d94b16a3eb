"""The compiled parameters of a tool, which check arguments and explain what does not match."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from jsonschema_rs import Validator, ValidatorMap

from pytest_fcall.core.digests import kept_by_identity
from pytest_fcall.core.message_text import MAX_JSON_NUMBER_BITS, quoted_path, shown
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, is_flat_object
from pytest_fcall.schema.dialect import normalise
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.traversal import (
    Path,
    UndeclaredError,
    applied_schemas,
    locate_schema,
    look_up,
    most_applications,
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

if TYPE_CHECKING:
    from pytest_fcall.schema.findings import Depths, Finding

_CACHED_PATHS: Final = 1024
"""The size of each cache by path. Cases use a few paths again and again, models any number."""
_DEEPEST_ARGUMENT: Final = 6
_MOST_ARGUMENTS: Final = 1_000
"""Limits for schemas that refer to themselves."""
_MOST_APPLICATIONS: Final = 10_000
"""The most schemas that are applied to one value; each may be tried, and each error is explained."""
_DEEPEST_VALUE: Final = 50


class Properties(NamedTuple):
    """The schemas of an object's properties, and the names of those that must have a value.

    A property that is required but may be null counts as optional: in strict mode, this is how optional ones are sent.
    """

    schemas: Mapping[str, Mapping[str, Json]]
    required: frozenset[str]


class _Part(NamedTuple):
    """The path of a subschema, and its validator."""

    path: Path
    validator: Validator


class Argument(NamedTuple):
    """An argument of a tool, or a property of one."""

    path: Path
    schema: Mapping[str, Json]
    is_required: bool


NO_PROPERTIES: Final = Properties({}, frozenset())


class ToolSchema:
    """The compiled parameters of a tool. Made by `tool_schema` from normalised parameters."""

    def __init__(self, parameters: Mapping[str, Json]) -> None:
        self._root = parameters
        self._strict = validation_schema(self._root)
        self._validator = compile_validator(self._strict)
        self._schema_path = lru_cache(maxsize=_CACHED_PATHS)(partial(locate_schema, self._strict))
        self._part = lru_cache(maxsize=_CACHED_PATHS)(self._find_part)
        self._cached_properties = lru_cache(maxsize=_CACHED_PATHS)(self._find_properties)
        self.parameters, self.required = self._properties_of(self._root)
        """The schema of each argument that has one, and the arguments that every call must have."""
        certain = applied_schemas(self._root, self._root, through=("allOf",))
        self.allows_more_arguments = any(
            allows_more_properties(piece) or piece.get("patternProperties") for piece, _ in certain
        )
        """Whether arguments of any other name are allowed."""

    def check(self, arguments: Mapping[str, Json]) -> list[Finding]:
        """The findings about the arguments of a call. Never raises, whatever they contain."""
        return self._check(self._validator, arguments)

    def allows(self, arguments: Mapping[str, Json]) -> bool:
        """Whether there is no finding about the arguments of a call. Takes less time than to find one."""
        unfit: list[Finding] = []
        fitted = _fit_for_json(arguments, (), unfit)
        return not unfit and self._validator.is_valid(fitted)

    def check_at(self, path: Sequence[str | int], value: Json) -> list[Finding]:
        """The findings about a value at `path` of the arguments."""
        path = tuple(path)
        try:
            part = self._part(path)
        except UndeclaredError as error:
            from pytest_fcall.schema.findings import unexpected_argument

            return [unexpected_argument(error.path, error.known, None)]
        return [] if part is None else self._check(part.validator, value, part.path, path)

    def properties_at(self, path: Path) -> Properties:
        """The properties of the object at `path` of the arguments; none if the schema does not describe it.

        References are followed. Of a union with a single form of object, the properties are those of that form.
        """
        return self._cached_properties(path)

    def arguments(self) -> Iterator[Argument]:
        """All arguments, nested ones included; of a schema that refers to itself those near the top."""
        return islice(self._arguments_below(()), _MOST_ARGUMENTS)

    def _arguments_below(self, at: Path) -> Iterator[Argument]:
        found = self.properties_at(at)
        for name, inner in found.schemas.items():
            yield Argument((*at, name), inner, name in found.required)
            if len(at) < _DEEPEST_ARGUMENT:
                yield from self._arguments_below((*at, name))
                yield from self._arguments_below((*at, name, 0))

    def _check(
        self, validator: Validator, value: Json, schema_path: Path = (), argument_path: Path = ()
    ) -> list[Finding]:
        unfit: list[Finding] = []
        fitted = _fit_for_json(value, argument_path, unfit)
        if not unfit and validator.is_valid(fitted):
            return []
        unfit_paths = {finding.path for finding in unfit}
        found = self._explain(validator, fitted, schema_path, argument_path)
        return [*unfit, *(finding for finding in found if unfit_paths.isdisjoint(_prefixes(finding.path)))]

    def _explain(self, validator: Validator, value: Json, schema_path: Path, argument_path: Path) -> list[Finding]:
        """The findings about a value. If it is too deep, each argument of the call is explained on its own."""
        from pytest_fcall.schema.findings import Explainer, is_deeper, too_deep_to_explain

        if not is_deeper(value, self._depth_limits):
            explainer = Explainer(self._strict, value, schema_path, argument_path)
            return explainer.findings(validator.iter_errors(value))
        if argument_path or not isinstance(value, dict):
            return [too_deep_to_explain(argument_path, value)]
        deep = {name: item for name, item in value.items() if is_deeper({name: item}, self._depth_limits)}
        rest = {name: item for name, item in value.items() if name not in deep}
        found = [
            finding
            for finding in self._explain(validator, rest, schema_path, argument_path)
            if finding.kind != "missing_argument" or finding.path[0] not in deep
        ]
        found += [finding for name, item in deep.items() for finding in self.check_at((name,), item)]
        return found or [too_deep_to_explain(argument_path, value)]

    @cached_property
    def _depth_limits(self) -> Depths:
        from pytest_fcall.schema.findings import explicable_depths

        return explicable_depths(self._strict)

    @cached_property
    def _part_validators(self) -> ValidatorMap:
        return compile_part_validators(self._strict)

    def _find_part(self, path: Path) -> _Part | None:
        schema_path = self._schema_path(path)
        validator = None if schema_path is None else self._part_validators.get(pointer(schema_path))
        return None if schema_path is None or validator is None else _Part(schema_path, validator)

    def _find_properties(self, path: Path) -> Properties:
        try:
            schema_path = self._schema_path(path)
        except UndeclaredError:
            return NO_PROPERTIES
        found = None if schema_path is None else look_up(self._root, schema_path)
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
    """The compiled parameters of `tool`, one object for equal schemas. Raises SchemaError for an invalid schema.

    The latest schemas are kept for the life of the process.
    """
    return _compiled(tool.parameters)


@kept_by_identity(most=4096)
def _compiled(parameters: Mapping[str, Json]) -> ToolSchema:
    return _compiled_text(json.dumps(normalise(parameters)))


@lru_cache(maxsize=1024)
def _compiled_text(parameters: str) -> ToolSchema:
    root = json.loads(parameters)
    if '"$ref"' in parameters:
        _check_references(root)
    return ToolSchema(root)


def _check_references(root: Mapping[str, Json]) -> None:
    try:
        if most_applications(root) <= _MOST_APPLICATIONS:
            return
    except RecursionError:
        pass
    message = f"its references apply more than {_MOST_APPLICATIONS:,} schemas to one value"
    raise SchemaError(message, hint="write what all alternatives have in common once")


def _prefixes(path: Path) -> Iterator[Path]:
    return (path[:length] for length in range(len(path) + 1))


def _strings(value: Json) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _is_null_named(schema: Mapping[str, Json]) -> bool:
    kinds = schema.get("type")
    if kinds is None:
        options = schema.get("enum")
        return isinstance(options, list) and None in options
    return kinds == "null" or "null" in _strings(kinds)


def _fit_for_json(value: object, path: Path, unfit: list[Finding]) -> Json:
    """A copy of `value` in dicts and lists. A part that is not a JSON value becomes null, with a finding in `unfit`.

    What is sound as it is, and holds nothing but plain values, is not copied.
    """
    if type(value) is str and value.isascii():
        return value  # the fast path: most arguments are such strings, or small integers
    if type(value) is int and value.bit_length() <= MAX_JSON_NUMBER_BITS:
        return value
    if len(path) < _DEEPEST_VALUE and is_flat_object(value):
        return value
    match value:
        case None | bool():
            return value
        case str() if value.isascii() or _is_text(value):
            return str.__str__(value)
        case int() if value.bit_length() <= MAX_JSON_NUMBER_BITS:
            return int(value)
        case float() if math.isfinite(value):
            return float(value)
        case dict() | Mapping() if len(path) < _DEEPEST_VALUE:
            return {
                str.__str__(key): _fit_for_json(item, (*path, key), unfit)
                for key, item in value.items()
                if _is_key(key, path, unfit)
            }
        case list() | Sequence() if len(path) < _DEEPEST_VALUE and not isinstance(value, str | bytes | bytearray):
            return [_fit_for_json(item, (*path, index), unfit) for index, item in enumerate(value)]
    unfit.append(_finding(value, path))
    return None


def _is_key(key: object, path: Path, unfit: list[Finding]) -> bool:
    if isinstance(key, str) and (key.isascii() or _is_text(key)):
        return True
    from pytest_fcall.schema.findings import Finding

    unfit.append(Finding("wrong_type", path, f"{quoted_path(path)} has the key {shown(key)}, which is not a string"))
    return False


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _finding(value: object, path: Path) -> Finding:
    from pytest_fcall.schema.findings import Finding

    where = quoted_path(path)
    match value:
        case str():
            return Finding("schema", path, f"{where} contains a lone surrogate, which is not a character", got=value)
        case int():
            return Finding("schema", path, f"{where} is a number of more than a thousand digits")
        case float():
            return Finding("wrong_type", path, f"{where} is {shown(value)}, which is not a JSON number")
        case Mapping() | list() | tuple():
            return Finding("schema", path, f"{where} is nested deeper than {_DEEPEST_VALUE} levels")
        case _:
            return Finding("wrong_type", path, f"{where} is {shown(value)}, which is not a JSON value")
