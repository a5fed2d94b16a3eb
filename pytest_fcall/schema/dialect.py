"""Tool schemas of every dialect, converted to JSON Schema 2020-12.

The Berkeley leaderboard writes `dict` and `float`, Gemini `OBJECT`, OpenAPI 3.0 `nullable: true`, older drafts lists
of `items`. Only the compilation of a schema shows whether all of it is valid.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from pytest_fcall.core.message_text import MAX_JSON_NUMBER_BITS, did_you_mean, with_type
from pytest_fcall.core.values import Json
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.traversal import SCHEMA_KEYWORDS, SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS, Path

MAX_SCHEMA_DEPTH = 100
"""The longest path into a schema: far more than real ones have, and well within the recursion limit."""


def json_value(value: object, path: Path = ()) -> Json:
    """A copy of `value` in dicts and lists. Raises SchemaError if it is not a JSON value."""
    if len(path) > MAX_SCHEMA_DEPTH:
        raise SchemaError("nested too deeply", path)
    match value:
        case None | bool() | str():
            return value
        case int() if value.bit_length() <= MAX_JSON_NUMBER_BITS:
            return value
        case float() if math.isfinite(value):
            return value
        case Mapping():
            return {key: json_value(item, (*path, key)) for key, item in with_string_keys(value, path).items()}
        case list() | tuple():
            return [json_value(item, (*path, index)) for index, item in enumerate(value)]
    raise SchemaError(f"{_kind(value)} is not a JSON value", path)


def with_string_keys(value: Mapping[Any, object], path: Path) -> dict[str, object]:
    """The mapping as a dict with string keys. Raises SchemaError for any other key."""
    checked = {key: item for key, item in value.items() if isinstance(key, str)}
    if len(checked) != len(value):
        wrong = next(key for key in value if not isinstance(key, str))
        raise SchemaError(f"the key {wrong!r} is not a string", path, hint=f'put it in quotes: "{wrong}"')
    return checked


def _kind(value: object) -> str:
    if isinstance(value, float):
        return str(value)
    return "a huge number" if isinstance(value, int) else f"a Python {type(value).__name__}"


_ARRAYS = ("array", "list", "tuple", "arraylist", "linkedlist", "vector", "stack", "queue", "deque")
_SETS = ("set", "hashset", "treeset", "linkedhashset", "frozenset", "collection", "iterable", "sequence")
_OBJECTS = ("object", "dict", "dictionary", "map", "hashmap", "treemap", "linkedhashmap", "hashtable")
_INTEGERS = ("integer", "int", "long", "short", "byte", "bigint", "biginteger", "uint")

TYPE_NAMES: Final[Mapping[str, str | None]] = MappingProxyType(
    {
        **dict.fromkeys((*_OBJECTS, "mapping", "record", "struct"), "object"),
        **dict.fromkeys((*_ARRAYS, *_SETS), "array"),
        **dict.fromkeys(("number", "float", "double", "decimal", "bigdecimal", "float32", "float64"), "number"),
        **dict.fromkeys(
            (*_INTEGERS, *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))), "integer"
        ),
        **dict.fromkeys(("string", "str", "char", "character", "charsequence", "text"), "string"),
        **dict.fromkeys(("boolean", "bool"), "boolean"),
        **dict.fromkeys(("null", "none", "nonetype", "undefined"), "null"),
        **dict.fromkeys(("any", "", "type_unspecified"), None),
    }
)
"""Type names of Python, Java, JavaScript and Gemini, in lower case. None stands for any type."""

_LONGEST = 100
_GENERIC = re.compile(r"(?P<outer>\w+)\s*(?:<(?P<angle>.+)>|\[(?P<square>.+)\])")


def named_type(name: str) -> dict[str, Json] | None:
    """The schema of a type name; None if it is not one.

    The types of items and values are included: `ArrayList<String>`, `String[]`, `Dict[str, int]`.
    """
    plain = name.strip().lower()
    if plain in TYPE_NAMES:
        kind = TYPE_NAMES[plain]
        return {} if kind is None else {"type": kind}
    if len(plain) > _LONGEST:
        return None
    if plain.endswith("[]"):
        item = named_type(plain[:-2])
        return None if item is None else {"type": "array", "items": item}
    found = _GENERIC.fullmatch(plain)
    outer = TYPE_NAMES.get(found["outer"]) if found else None
    if found is None or outer not in ("array", "object"):
        return None
    inside = found["angle"] or found["square"]
    if outer == "array":
        keyword = "items"
    else:
        keyword, inside = "additionalProperties", inside.partition(",")[2]
    inner = named_type(inside) if inside.strip() else None
    return {"type": outer} if inner is None else {"type": outer, keyword: inner}


_Schema = dict[str, Json]

_LONGEST_NAME = 60
_VALUES = frozenset({"const", "default", "enum", "example", "examples"})
_COUNTS = frozenset({"maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"})
_ANNOTATIONS = ("title", "description", "default", "example", "examples", "deprecated")
_SAYS_OBJECT = frozenset(
    {"$defs", "$ref", "additionalProperties", "allOf", "anyOf", "definitions", "oneOf", "patternProperties"}
    | {"properties", "required", "type", "unevaluatedProperties"}
)


def normalise(schema: Json, path: Path = ()) -> _Schema:
    """`schema` as a 2020-12 schema of an object; None and `{}` are an object without properties.

    `path` is the path of the schema in the user's data, for errors. Raises SchemaError.
    """
    if schema is None:
        schema = {}
    if not isinstance(schema, Mapping):
        raise SchemaError(f"parameters must be a JSON Schema of an object, not {with_type(schema)}", path)
    _refuse_bare_properties(schema, path)
    root = _normal(schema, path)
    kinds = root.get("type", "object")
    if kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
        raise SchemaError(
            f"parameters must be a schema of type object, not {kinds}",
            (*path, "type"),
            hint="a tool takes named arguments: put this schema under `properties`",
        )
    if "$ref" not in root and SCHEMA_LIST_KEYWORDS.isdisjoint(root):
        _declare_required(root)
    return {"type": "object", **{key: value for key, value in root.items() if key != "type"}}


def _declare_required(root: _Schema) -> None:
    """Add a schema that allows any value for each required argument without one."""
    required, properties = root.get("required"), root.get("properties", {})
    if isinstance(properties, Mapping):
        names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        root["properties"] = {**properties, **{name: {} for name in names if name not in properties}}


def _refuse_bare_properties(schema: Mapping[str, Json], path: Path) -> None:
    values = [value for value in schema.values() if value is not None]
    if values and not _SAYS_OBJECT & schema.keys() and all(isinstance(value, Mapping) for value in values):
        raise SchemaError(
            "parameters must be a JSON Schema of an object; these look like its properties",
            path,
            hint="write {type: object, properties: {…}}",
        )


def _normal(schema: object, path: Path) -> _Schema:
    """A schema, converted together with its subschemas."""
    if not isinstance(schema, Mapping):
        hint = f"write {{type: {schema}}}" if isinstance(schema, str) and named_type(schema) is not None else ""
        raise SchemaError(f"a schema must be a mapping, not {with_type(schema)}", path, hint)
    if len(path) > MAX_SCHEMA_DEPTH:
        raise SchemaError("the schema is nested too deeply", path)
    entries = {
        key: value for key, value in with_string_keys(schema, path).items() if value is not None or key in _VALUES
    }
    entries.pop("$schema", None)  # mostly an older draft; the result is 2020-12
    wanted = _old_style_required(entries)
    out: _Schema = {key: _entry(key, value, (*path, key)) for key, value in entries.items()}
    out.update(wanted)
    _types(out, path)
    _bounds(out)
    _tuples(out)
    return _nullable(out)


def _entry(key: str, value: object, path: Path) -> Json:
    if key in SCHEMA_KEYWORDS or key == "additionalItems":
        if key == "items" and isinstance(value, list | tuple):
            return _listed(value, path)
        return _branch(value, path)
    if key in SCHEMA_LIST_KEYWORDS:
        if not isinstance(value, list | tuple):
            raise SchemaError(f"`{key}` must be a list of schemas, not {with_type(value)}", path)
        return _listed(value, path)
    if key in SCHEMA_MAP_KEYWORDS:
        if not isinstance(value, Mapping):
            raise SchemaError(f"`{key}` must be a mapping of names to schemas, not {with_type(value)}", path)
        return {name: _branch(item, (*path, name)) for name, item in with_string_keys(value, path).items()}
    if key in _COUNTS and isinstance(value, str) and value.isdecimal() and len(value) < 20:
        return int(value)  # Gemini's wire writes 64-bit numbers as strings
    return json_value(value, path)


def _listed(value: Sequence[object], path: Path) -> list[Json]:
    return [_branch(item, (*path, index)) for index, item in enumerate(value)]


def _branch(value: object, path: Path) -> Json:
    return value if isinstance(value, bool) else _normal(value, path)


def _old_style_required(entries: dict[str, object]) -> _Schema:
    """`required` as a list of names, if properties have a `required: true` of their own."""
    properties = entries.get("properties")
    if isinstance(entries.get("required"), bool):
        del entries["required"]
    if not isinstance(properties, Mapping):
        return {}
    own = [name for name, item in properties.items() if isinstance(item, Mapping) and item.get("required") is True]
    listed = entries.get("required", [])
    if not own or not isinstance(listed, list | tuple):
        return {}
    return {"required": [*listed, *(name for name in own if name not in listed)]}


def _types(schema: _Schema, path: Path) -> None:
    given = schema.get("type")
    if given is None:
        return
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not names:
        raise SchemaError(f"`type` must be a type name or a list of them, not {with_type(given)}", (*path, "type"))
    meant = [_type(name, (*path, "type")) for name in names]
    kinds = list(dict.fromkeys(part.pop("type", None) for part in meant))
    if None in kinds:
        del schema["type"]
    else:
        schema["type"] = kinds[0] if isinstance(given, str) else kinds
    for part in meant:
        for keyword, value in part.items():
            schema.setdefault(keyword, value)


def _type(name: Json, path: Path) -> _Schema:
    if not isinstance(name, str):
        raise SchemaError(f"a type name must be a string, not {with_type(name)}", path)
    if (found := named_type(name)) is not None:
        return found
    hint = did_you_mean(name, TYPE_NAMES) or "the types are string, integer, number, boolean, array, object, null"
    raise SchemaError(f"`{name[:_LONGEST_NAME]}` is not a type of JSON Schema", path, hint)


def _bounds(schema: _Schema) -> None:
    """Replace the boolean `exclusiveMinimum` and `exclusiveMaximum` of OpenAPI 3.0 and draft 4 by numbers."""
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if (
            isinstance(schema.get(exclusive), bool)
            and schema.pop(exclusive)
            and type(schema.get(bound)) in {int, float}
        ):
            schema[exclusive] = schema.pop(bound)


def _tuples(schema: _Schema) -> None:
    """Replace a list of schemas in `items`, as older drafts have it, by `prefixItems`."""
    rest = schema.pop("additionalItems", None)
    if isinstance(schema.get("items"), list):
        schema["prefixItems"] = schema.pop("items")
        if isinstance(rest, Mapping | bool):
            schema["items"] = rest


def _nullable(schema: _Schema) -> _Schema:
    if schema.pop("nullable", False) is not True:
        return schema
    if isinstance(options := schema.get("enum"), list) and None not in options:
        schema["enum"] = [*options, None]
        if "type" not in schema:
            return schema
    match schema.get("type"):
        case str() as kind:
            return schema if kind == "null" else {**schema, "type": [kind, "null"]}
        case list() as kinds:
            return {**schema, "type": [*kinds, *({"null"} - set(kinds))]}
    outside = {key: schema.pop(key) for key in _ANNOTATIONS if key in schema}
    return {**outside, "anyOf": [schema, {"type": "null"}]} if schema else outside
