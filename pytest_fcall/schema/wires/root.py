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
    root = _Merger(parameters).merged(parameters)
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


class _Merger:
    """Makes one object of schemas in which others apply in place; each is looked at once, however often it is named."""

    def __init__(self, root: Mapping[str, Json]) -> None:
        self._root = root
        self._known: dict[int, dict[str, Json]] = {}

    def merged(self, schema: Mapping[str, Json]) -> dict[str, Json]:
        """An object that takes whatever `schema` takes, without the keywords that may not stand at a root."""
        if id(schema) in self._known:
            return self._known[id(schema)]
        self._known[id(schema)] = {}  # what it says of itself from within adds nothing
        out = dict(resolved(self._root, schema))
        pieces = [*self._branches(out.get("allOf")), *self._unions(out)]
        for key in (*_MERGED, *_LEFT_OUT, "$ref"):
            out.pop(key, None)
        for piece in pieces:
            _join(out, piece)
        self._known[id(schema)] = out
        return out

    def _unions(self, schema: Mapping[str, Json]) -> list[dict[str, Json]]:
        """One object for each union: the properties of all branches, required only where all require them."""
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
