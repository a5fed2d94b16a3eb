"""The validator of a tool's arguments, and the strict schema that it is compiled from.

That schema is stricter than the tool's own: undeclared arguments are errors, 1.0 is not an integer, and integer
formats have bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeVar

from jsonschema_rs import (
    Draft202012Validator,
    EmailOptions,
    ValidationError,
    Validator,
    ValidatorMap,
    validator_map_for,
)

from pytest_fcall.core.values import Json
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.traversal import Path, applied_schemas, follow_reference, rebuild_schema, schemas_in

_RANGES: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)}
    | {f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)}
)
"""The ranges of OpenAPI's integer formats."""


def add_format_bounds(schema: dict[str, Json]) -> None:
    """Add the range of an integer format as bounds, unless the schema has narrower ones."""
    name = schema.get("format")
    if not isinstance(name, str) or name not in _RANGES:
        return
    low, high = _RANGES[name]
    schema["minimum"] = max(low, _number(schema.get("minimum"), low))
    schema["maximum"] = min(high, _number(schema.get("maximum"), high))


def _number(bound: Json, otherwise: int) -> int | float:
    return bound if isinstance(bound, int | float) else otherwise


INTEGER_KEYWORD: Final = "fcall:integer"
"""The keyword that accompanies `type: integer` in a strict schema."""

_Role = Literal["value", "piece", "condition"]
"""The role of a subschema. A `value` describes a value of its own and can be closed. A `piece` describes the same value
as its parent, and an object may be declared in several pieces. A `condition` only tests a value and must stay as it
is."""

_PIECES = frozenset({"$defs", "allOf", "anyOf", "definitions", "dependentSchemas", "else", "oneOf", "then"})
_CONDITIONS = frozenset({"contains", "if", "not", "propertyNames"})
_UNIONS = frozenset({"anyOf", "oneOf"})
_DECLARING = frozenset({"$ref", "allOf", "dependentSchemas", "if", "patternProperties", "properties"})
_OPENINGS = frozenset({"additionalProperties", "unevaluatedProperties"})
_ANNOTATIONS = frozenset({"$comment", "default", "description", "example", "examples", "title"})


class IntegerKeyword:
    """The implementation of the keyword for jsonschema_rs."""

    def __init__(self, parent: object, value: object, path: object) -> None:
        pass

    def validate(self, instance: object) -> None:
        """Raise ValueError for a float without fraction. `type: integer` alone would allow it."""
        if type(instance) is float and instance.is_integer():
            raise ValueError


def validation_schema(root: Mapping[str, Json]) -> dict[str, Json]:
    """The strict schema of a tool's parameters.

    Each part has the same path as in `root`, so that pointers and error paths are valid in both.
    """
    return _closed(_strict(root, root, "piece"))


def allows_more_properties(schema: Mapping[str, Json]) -> bool:
    """Whether an object explicitly allows more properties than it lists."""
    return any(schema.get(key, False) is not False for key in _OPENINGS)


def _strict(root: Mapping[str, Json], schema: Mapping[str, Json], role: _Role) -> dict[str, Json]:
    union = role == "value" and _DECLARING.isdisjoint(schema)

    def inner(path: Path, child: Json) -> Json:
        if not isinstance(child, Mapping):
            return child
        key = path[0]
        if role == "condition" or key in _CONDITIONS:
            return _strict(root, child, "condition")
        return _strict(root, child, "piece" if key in _PIECES and not (union and key in _UNIONS) else "value")

    out = {key: value for key, value in rebuild_schema(schema, inner).items() if key not in _ANNOTATIONS}
    if _only_integers(schema.get("type")):
        out[INTEGER_KEYWORD] = True
    if out.get("additionalProperties") is False:
        out.setdefault("properties", {})  # without it, errors of jsonschema_rs name no key
    add_format_bounds(out)
    if role == "value" and not (union and _UNIONS & schema.keys()) and _lists_properties(root, schema):
        return _closed(out)
    return out


def _closed(schema: dict[str, Json]) -> dict[str, Json]:
    if not _OPENINGS & schema.keys():
        schema["unevaluatedProperties"] = False
    return schema


def _lists_properties(root: Mapping[str, Json], schema: Mapping[str, Json]) -> bool:
    return any(piece.get("properties") for piece, _ in applied_schemas(root, schema))


def _only_integers(kinds: Json) -> bool:
    if isinstance(kinds, list):
        return "integer" in kinds and "number" not in kinds
    return kinds == "integer"


_LONGEST = 200
_PLAIN_ADDRESS = EmailOptions(allow_display_text=False)
_Compiled = TypeVar("_Compiled")


def compile_validator(schema: dict[str, Json]) -> Validator:
    """The validator of a strict schema. Known formats are checked, and remote references are never fetched."""
    try:
        return _compiled(Draft202012Validator, schema)
    except ValidationError as error:
        raise _complaint(error, schema) from None
    except ValueError as error:
        raise SchemaError(f"this schema cannot be used: {str(error)[:_LONGEST]}") from None


def compile_part_validators(schema: dict[str, Json]) -> ValidatorMap:
    """The validators of all subschemas of a schema that compiled, by JSON pointer."""
    return _compiled(validator_map_for, schema)


def _compiled(compile_schema: Callable[..., _Compiled], schema: dict[str, Json]) -> _Compiled:
    return compile_schema(
        schema,
        keywords={INTEGER_KEYWORD: IntegerKeyword},
        offline=True,
        validate_formats=True,
        email_options=_PLAIN_ADDRESS,
    )


def _complaint(error: ValidationError, schema: Mapping[str, Json]) -> SchemaError:
    path = tuple(error.instance_path)
    if error.kind.name == "$ref":
        return _lost_reference(schema) or SchemaError(error.message[:_LONGEST])
    if path[-1:] == ("pattern",):
        return SchemaError(f"`{error.instance}` is not a valid regular expression of JSON Schema", path)
    return SchemaError(f"invalid JSON Schema: {error.message[:_LONGEST]}", path)


def _lost_reference(root: Mapping[str, Json]) -> SchemaError | None:
    for path, schema in schemas_in(root):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or follow_reference(root, schema):
            continue
        if reference.startswith("#"):
            return SchemaError(f"`{reference}` cannot be resolved", (*path, "$ref"))
        return SchemaError(
            f"`{reference}` is outside this schema; remote references are not loaded",
            (*path, "$ref"),
            hint="copy the schema into `$defs`, and refer to it as `#/$defs/…`",
        )
    return None
