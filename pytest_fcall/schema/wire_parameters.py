"""Parameter schemas in the form that providers accept: an object at the root, or OpenAI's strict mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcall.core.values import Json, mapping_or_empty, path_text
from pytest_fcall.schema.traversal import SCHEMA_MAP_KEYWORDS, Path, rebuild_schema, resolve_references

_UNIONS = ("anyOf", "oneOf")
_MERGED = ("allOf", *_UNIONS)
_LEFT_OUT = ("enum", "not")


def object_root(parameters: Mapping[str, Json], changes: list[str]) -> dict[str, Json]:
    """`parameters` with an object at the root that lists its properties, as OpenAI and Anthropic require.

    A union at the root becomes one object with the properties of all its branches. Those that every branch requires
    stay required. This allows more than the schema does, but calls are judged by the schema itself. Each change is
    described in `changes`.
    """
    root = _Merger(parameters).merged(parameters)
    given = resolve_references(parameters, parameters)
    changes += [f"`{key}` at the root became one object" for key in _MERGED if key in given]
    changes += [f"`{key}` at the root was left out" for key in _LEFT_OUT if key in given]
    listed = _listing(root)
    if listed != root:
        changes.append("lists of anything got `items: {}`")
    empty: dict[str, Json] = {"type": "object", "properties": {}}
    return {name: value for name, value in empty.items() if name not in listed} | listed


def _listing(schema: Mapping[str, Json]) -> dict[str, Json]:
    """A copy in which each list has `items`."""
    out = rebuild_schema(schema, lambda _, inner: _listing(inner) if isinstance(inner, Mapping) else inner)
    kinds = out.get("type")
    if "items" not in out and (kinds == "array" or (isinstance(kinds, list) and "array" in kinds)):
        out["items"] = {}
    return out


class _Merger:
    """Merges a schema with those that it applies to the same value. Each schema is merged once."""

    def __init__(self, root: Mapping[str, Json]) -> None:
        self._root = root
        self._known: dict[int, dict[str, Json]] = {}

    def merged(self, schema: Mapping[str, Json]) -> dict[str, Json]:
        """An object that allows all that `schema` allows, without the keywords that are not allowed at a root."""
        if id(schema) in self._known:
            return self._known[id(schema)]
        self._known[id(schema)] = {}  # a reference to itself adds nothing
        out = dict(resolve_references(self._root, schema))
        pieces = [*self._branches(out.get("allOf")), *self._unions(out)]
        for key in (*_MERGED, *_LEFT_OUT, "$ref"):
            out.pop(key, None)
        for piece in pieces:
            _join(out, piece)
        self._known[id(schema)] = out
        return out

    def _unions(self, schema: Mapping[str, Json]) -> list[dict[str, Json]]:
        """One object for each union: the properties of all branches, required if all branches require them."""
        unions = []
        for branches in filter(None, (self._branches(schema.get(key)) for key in _UNIONS)):
            union: dict[str, Json] = {}
            for branch in branches:
                _join(union, branch)
            common = set.intersection(*(set(_names(branch)) for branch in branches))
            union["required"] = [name for name in _names(union) if name in common]
            unions.append(union)
        return unions

    def _branches(self, given: Json) -> list[dict[str, Json]]:
        branches = given if isinstance(given, list) else []
        return [self.merged(branch) for branch in branches if isinstance(branch, Mapping)]


def _join(out: dict[str, Json], piece: Mapping[str, Json]) -> None:
    properties = dict(mapping_or_empty(out.get("properties")))
    for name, schema in mapping_or_empty(piece.get("properties")).items():
        known = properties.setdefault(name, schema)
        if known != schema:
            properties[name] = {"anyOf": [known, schema]}
    required = list(dict.fromkeys((*_names(out), *_names(piece))))
    out |= dict(piece) | out | {"properties": properties} | ({"required": required} if required else {})


def _names(schema: Mapping[str, Json]) -> Sequence[str]:
    required = schema.get("required")
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


_TAKEN = frozenset(
    {"$defs", "$ref", "additionalProperties", "anyOf", "const", "definitions", "description", "enum", "items"}
    | {"properties", "required", "title", "type", "format", "pattern", "maxItems", "minItems"}
    | {"exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"}
)
_FORMATS = frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"})
_ESSENTIAL = frozenset(
    {"allOf", "dependentSchemas", "else", "if", "patternProperties", "prefixItems", "then", "unevaluatedItems"}
)
"""Keywords without which the schema would forbid arguments that it should allow."""

_SAYS_TYPE = ("type", "anyOf", "$ref")
_TYPES: Mapping[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


class StrictModeError(ValueError):
    """Strict mode cannot express the schema; the text names the part."""


def strict_parameters(parameters: Mapping[str, Json], changes: list[str]) -> tuple[dict[str, Json], bool]:
    """`parameters` for strict mode, and whether optional arguments became required ones that may be null.

    Each object allows only the properties that it lists. Keywords that strict mode does not support and that can be
    left out (bounds on lengths, defaults …) are described in `changes`. Raises StrictModeError for the others.
    """
    form = _Form()
    out = form.root(parameters)
    if form.left_out:
        changes.append(f"sent without {', '.join(f'`{key}`' for key in sorted(form.left_out))}")
    if form.nulls:
        changes.append("optional arguments are sent as required, with null for nothing")
    return out, form.nulls


class _Form:
    """The conversion of one schema to strict form, and the changes that it made."""

    def __init__(self) -> None:
        self.left_out: set[str] = set()
        self.nulls = False

    def schema(self, given: Json, path: Path) -> dict[str, Json]:
        """The strict form of a subschema."""
        if not isinstance(given, Mapping):
            raise StrictModeError(f"{_place(path)} allows {'any value' if given else 'no value'}")
        out = _typed(self._kept(_one_union(given, path), path), path)
        if _may_be(out, "array"):
            out["items"] = self.schema(out.get("items", {}), (*path, 0))
        if isinstance(forms := out.get("anyOf"), list):
            out["anyOf"] = [self.schema(form, path) for form in forms]
        return self._object(out, path) if _may_be(out, "object") or "properties" in out else out

    def root(self, given: Mapping[str, Json]) -> dict[str, Json]:
        """The strict form of the parameters. Only these may be an object without properties."""
        empty: dict[str, Json] = {"type": "object", "properties": {}}
        return self._object(empty | self._kept(given, ()), ())

    def _object(self, given: Mapping[str, Json], path: Path) -> dict[str, Json]:
        """An object with all its properties required, and no others allowed."""
        out = dict(given)
        properties = out.get("properties")
        if out.pop("additionalProperties", False) is not False or not (properties or not path):
            raise StrictModeError(f"{_place(path)} allows any keys")
        required = out.get("required")
        asked = required if isinstance(required, list) else []
        named = properties if isinstance(properties, Mapping) else {}
        out["properties"] = {name: self._property(item, (*path, name), name in asked) for name, item in named.items()}
        out["required"] = list(named)
        out["additionalProperties"] = False
        return out

    def _property(self, given: Json, path: Path, required: bool) -> dict[str, Json]:
        out = self.schema(given, path)
        if required or _takes_null(out):
            return out
        self.nulls = True
        return _nullable(out)

    def _kept(self, given: Mapping[str, Json], path: Path) -> dict[str, Json]:
        """The keywords that strict mode supports, with definitions in strict form."""
        if missed := sorted(_ESSENTIAL & given.keys()):
            raise StrictModeError(f"{_place(path)} needs `{missed[0]}`")
        out = {key: value for key, value in given.items() if key in _TAKEN}
        if out.get("format") not in _FORMATS:
            out.pop("format", None)
        self.left_out |= given.keys() - out.keys()
        for key in SCHEMA_MAP_KEYWORDS & out.keys() - {"properties"}:
            definitions = out[key]
            if isinstance(definitions, Mapping):
                out[key] = {name: self.schema(item, (name,)) for name, item in definitions.items()}
        return out


def _may_be(schema: Mapping[str, Json], kind: str) -> bool:
    kinds = schema.get("type")
    return kinds == kind or (isinstance(kinds, list) and kind in kinds)


def _one_union(given: Mapping[str, Json], path: Path) -> Mapping[str, Json]:
    """The schema with `anyOf` in place of `oneOf`, of an `allOf` of one, and of a `$ref` with other keywords."""
    out = dict(given)
    forms: dict[str, Json] = {}
    if "oneOf" in out:
        forms["oneOf"] = out.pop("oneOf")
    if isinstance(pieces := out.get("allOf"), list) and len(pieces) == 1:
        forms["allOf"] = out.pop("allOf")
    if "$ref" in out and (len(out) > 1 or forms):
        forms["$ref"] = [{"$ref": out.pop("$ref")}]
    if len(forms) + ("anyOf" in out) > 1:
        raise StrictModeError(f"{_place(path)} needs `{next(iter(forms))}` beside another union")
    for form in forms.values():
        out["anyOf"] = form
    return out


def _typed(given: dict[str, Json], path: Path) -> dict[str, Json]:
    """The schema with the `type` that strict mode requires."""
    if any(key in given for key in _SAYS_TYPE) or "properties" in given:
        return given
    options = given.get("enum", [given["const"]] if "const" in given else [])
    kinds = list(dict.fromkeys(_TYPES.get(type(value), "") for value in options)) if isinstance(options, list) else []
    if not kinds or "" in kinds:
        raise StrictModeError(f"{_place(path)} allows any value")
    return {**given, "type": kinds[0] if len(kinds) == 1 else list(kinds)}


def _takes_null(schema: Mapping[str, Json]) -> bool:
    if isinstance(forms := schema.get("anyOf"), list):
        return any(isinstance(form, Mapping) and _takes_null(form) for form in forms)
    options = schema.get("enum", [None])
    return _may_be(schema, "null") and isinstance(options, list) and None in options and schema.get("const") is None


def _nullable(schema: dict[str, Json]) -> dict[str, Json]:
    if isinstance(forms := schema.get("anyOf"), list):
        return {**schema, "anyOf": [*forms, {"type": "null"}]}
    kinds = schema.get("type")
    if kinds is None or "const" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    out: dict[str, Json] = {**schema, "type": [*([kinds] if isinstance(kinds, str) else _listed(kinds)), "null"]}
    if isinstance(options := out.get("enum"), list) and None not in options:
        out["enum"] = [*options, None]
    return out


def _listed(value: Json) -> list[Json]:
    return [item for item in value if item != "null"] if isinstance(value, list) else []


def _place(path: Path) -> str:
    return f"`{path_text(path)}`" if path else "the root"
