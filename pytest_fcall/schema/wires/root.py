"""Parameters as every wire takes them: one plain object at the root, and lists that say what is in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcall.core import Json
from pytest_fcall.schema.keywords import rebuilt
from pytest_fcall.schema.pointers import resolved

_UNIONS = ("anyOf", "oneOf")
_MERGED = ("allOf", *_UNIONS)
_LEFT_OUT = ("enum", "not")


def plain_root(parameters: Mapping[str, Json], changes: list[str]) -> dict[str, Json]:
    """`parameters` with an object at the root that lists its properties, as OpenAI and Anthropic want it.

    A union at the root becomes one object with the properties of all its branches, of which only those are required
    that every branch requires. That allows more than the schema does: calls are judged by the schema itself. What was
    changed is added to `changes`.
    """
    root = _merged(parameters, parameters, depth=0)
    given = resolved(parameters, parameters)
    changes += [f"`{key}` at the root became one object" for key in _MERGED if key in given]
    changes += [f"`{key}` at the root was left out" for key in _LEFT_OUT if key in given]
    listed = _listing(root)
    if listed != root:
        changes.append("lists of anything got `items: {}`")
    empty: dict[str, Json] = {"type": "object", "properties": {}}
    return empty | listed


def _listing(schema: Mapping[str, Json]) -> dict[str, Json]:
    """A copy in which each list says what is in it, if only that it may be anything."""
    out = rebuilt(schema, lambda _, inner: _listing(inner) if isinstance(inner, Mapping) else inner)
    kinds = out.get("type")
    if "items" not in out and (kinds == "array" or (isinstance(kinds, list) and "array" in kinds)):
        out["items"] = {}
    return out


def _merged(root: Mapping[str, Json], schema: Mapping[str, Json], depth: int) -> dict[str, Json]:
    """An object that takes whatever `schema` takes, without the keywords that may not stand at a root."""
    out = dict(resolved(root, schema))
    pieces = [_branches(root, out.get("allOf"), depth), *([form] for form in _unions(root, out, depth))]
    for key in (*_MERGED, *_LEFT_OUT, "$ref"):
        out.pop(key, None)
    for piece in (form for forms in pieces for form in forms):
        _join(out, piece)
    return out


def _unions(root: Mapping[str, Json], schema: Mapping[str, Json], depth: int) -> list[dict[str, Json]]:
    """One object for each union: the properties of all branches, required only where all require them."""
    unions = []
    for key in _UNIONS:
        if branches := _branches(root, schema.get(key), depth):
            union: dict[str, Json] = {}
            for branch in branches:
                _join(union, branch)
            common = set.intersection(*(set(_names(branch)) for branch in branches))
            union["required"] = [name for name in _names(union) if name in common]
            unions.append(union)
    return unions


def _branches(root: Mapping[str, Json], given: Json, depth: int) -> list[dict[str, Json]]:
    if not isinstance(given, list) or depth > 10:
        return []
    return [_merged(root, branch, depth + 1) for branch in given if isinstance(branch, Mapping)]


def _join(out: dict[str, Json], piece: Mapping[str, Json]) -> None:
    properties = dict(_mapping(out.get("properties")))
    for name, schema in _mapping(piece.get("properties")).items():
        known = properties.setdefault(name, schema)
        if known != schema:
            properties[name] = {"anyOf": [known, schema]}
    required = list(dict.fromkeys((*_names(out), *_names(piece))))
    out |= dict(piece) | out | {"properties": properties} | ({"required": required} if required else {})


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _names(schema: Mapping[str, Json]) -> Sequence[str]:
    required = schema.get("required")
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
