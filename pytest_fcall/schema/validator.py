"""The validator of a tool's arguments, and the schema that it is compiled from.

That schema is stricter than the tool's own: undeclared arguments are errors, 1.0 is no integer, and integer formats
have bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from jsonschema_rs import (
    Draft202012Validator,
    EmailOptions,
    ValidationError,
    Validator,
    ValidatorMap,
    validator_map_for,
)

from pytest_fcall.core import Json
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.traversal import Way, applied_schemas, follow_reference, rebuild_schema, schemas_in

FORMAT_DESCRIPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "date": "a date such as 2026-11-21",
        "date-time": "a date and time with its offset, such as 2026-11-21T16:30:00Z",
        "duration": "a duration such as PT1H30M",
        "email": "an e-mail address",
        "hostname": "a host name",
        "idn-email": "an e-mail address",
        "idn-hostname": "a host name",
        "ipv4": "an IPv4 address",
        "ipv6": "an IPv6 address",
        "iri": "an IRI such as https://example.org/a",
        "iri-reference": "an IRI or a part of one",
        "json-pointer": "a JSON pointer such as /a/0",
        "regex": "a regular expression of JSON Schema",
        "relative-json-pointer": "a relative JSON pointer such as 1/a",
        "time": "a time of day with its offset, such as 16:30:00Z",
        "uri": "a URI such as https://example.org/a",
        "uri-reference": "a URI or a part of one",
        "uri-template": "a URI template such as /users/{id}",
        "uuid": "a UUID such as 2eb8aa08-aa98-11ea-b4aa-73b441d16380",
    }
)
"""The formats of strings that the validator knows."""

_RANGES: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)}
    | {f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)}
)
"""The integers that fit into OpenAPI's formats of a width."""


def add_format_bounds(schema: dict[str, Json]) -> None:
    """Write the range of an integer format as bounds; those that the schema has may be narrower."""
    name = schema.get("format")
    if not isinstance(name, str) or name not in _RANGES:
        return
    low, high = _RANGES[name]
    schema["minimum"] = max(low, _number(schema.get("minimum"), low))
    schema["maximum"] = min(high, _number(schema.get("maximum"), high))


def _number(bound: Json, otherwise: int) -> int | float:
    return bound if isinstance(bound, int | float) else otherwise


INTEGER_KEYWORD: Final = "fcall:integer"
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


class IntegerKeyword:
    """The keyword as jsonschema_rs wants it: refuses floats, whole ones too."""

    def __init__(self, parent: object, value: object, path: object) -> None:
        pass

    def validate(self, instance: object) -> None:
        """Raise a ValueError for a whole float; all others break `type` already."""
        if type(instance) is float and instance.is_integer():
            raise ValueError


def validation_schema(root: Mapping[str, Json]) -> dict[str, Json]:
    """The schema that arguments are really checked against.

    Every part stands where it stands in `root`, so that pointers and error paths hold in both.
    """
    return _closed(_whole(root, root, "piece"))


def allows_more_properties(schema: Mapping[str, Json]) -> bool:
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

    out = {key: value for key, value in rebuild_schema(schema, inner).items() if key not in _ANNOTATIONS}
    if _only_integers(schema.get("type")):
        out[INTEGER_KEYWORD] = True
    if out.get("additionalProperties") is False:
        out.setdefault("properties", {})  # jsonschema_rs names no key where an object lists none
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


def compile_validator(schema: dict[str, Json]) -> Validator:
    """The validator of a strict schema, which holds values to the formats that it knows. Nothing is ever fetched."""
    try:
        return Draft202012Validator(
            schema,
            keywords={INTEGER_KEYWORD: IntegerKeyword},
            offline=True,
            validate_formats=True,
            email_options=_PLAIN_ADDRESS,
        )
    except ValidationError as error:
        raise _complaint(error, schema) from None
    except ValueError as error:
        raise SchemaError(f"this schema cannot be used: {str(error)[:_LONGEST]}") from None


def compile_part_validators(schema: dict[str, Json]) -> ValidatorMap:
    """The validators of all schemas inside a schema that compiled, by JSON pointer."""
    return validator_map_for(
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
        return SchemaError(f"`{error.instance}` is no regular expression of JSON Schema", path)
    return SchemaError(f"this is no valid JSON Schema: {error.message[:_LONGEST]}", path)


def _lost_reference(root: Mapping[str, Json]) -> SchemaError | None:
    for path, schema in schemas_in(root):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or follow_reference(root, schema):
            continue
        if reference.startswith("#"):
            return SchemaError(f"`{reference}` leads nowhere", (*path, "$ref"))
        return SchemaError(
            f"`{reference}` leads out of this schema, and nothing is fetched",
            (*path, "$ref"),
            hint="copy what it names under `$defs`, and refer to it as `#/$defs/…`",
        )
    return None
