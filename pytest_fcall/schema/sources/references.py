"""Local references in a document, replaced by what they lead to."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Final

from pytest_fcall.core import Json
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.keywords import rebuilt
from pytest_fcall.schema.plain import DEEPEST
from pytest_fcall.schema.pointers import Path, leads_somewhere, look_up, pointer, pointer_path
from pytest_fcall.schema.words import with_type

_MOST_COPIES: Final = 500
_LONGEST_CHAIN: Final = 20
_WORDS = frozenset({"title", "description", "default", "example", "examples", "deprecated", "nullable", "summary"})
"""What may stand beside a `$ref` and go before what it leads to."""

_Schema = dict[str, Json]


class References:
    """The references that one tool makes into the document around it.

    What they lead to is copied to where it is used, which models read most easily. What refers to itself becomes a
    definition that is referred to; so does the rest once the copies grow too many.
    """

    def __init__(self, document: Mapping[str, Json]) -> None:
        self._document = document
        self._copies = 0
        self._names: dict[Path, str] = {}
        self._waiting: deque[Path] = deque()

    def node(self, node: Json, path: Path) -> tuple[Mapping[str, Json], Path]:
        """An object of the document and its place, once references to it are followed."""
        for _ in range(_LONGEST_CHAIN):
            if not isinstance(node, Mapping):
                raise SchemaError(f"this must be a mapping, not {with_type(node)}", path)
            if "$ref" not in node:
                return node, path
            path = self._target(node["$ref"], (*path, "$ref"))
            node = look_up(self._document, path)
        raise SchemaError("the reference leads in a circle", path)

    def schema(self, schema: Json, path: Path) -> Json:
        """A copy of a schema in which no reference leads out of the tool."""
        return self._copy(schema, path, ())

    def definitions(self) -> _Schema:
        """The definitions that all copied schemas refer to."""
        found: _Schema = {}
        while self._waiting:
            path = self._waiting.popleft()
            found[self._names[path]] = self._copy(look_up(self._document, path), path, (path,))
        return found

    def _copy(self, schema: Json, path: Path, within: tuple[Path, ...], depth: int = 0) -> Json:
        if not isinstance(schema, Mapping):
            return schema
        if depth > DEEPEST // 2:
            raise SchemaError("the schema is nested too deeply", path)
        if "$ref" in schema:
            return self._followed(schema, path, within, depth)
        return _writable(rebuilt(schema, lambda way, inner: self._copy(inner, (*path, *way), within, depth + 1)))

    def _followed(self, schema: Mapping[str, Json], path: Path, within: tuple[Path, ...], depth: int) -> Json:
        target = self._target(schema["$ref"], (*path, "$ref"))
        beside: _Schema = {key: value for key, value in schema.items() if key != "$ref"}
        if target in within or self._copies >= _MOST_COPIES or len(within) >= _LONGEST_CHAIN:
            return {"$ref": self._definition(target), **beside}
        self._copies += 1
        found = self._copy(look_up(self._document, target), target, (*within, target), depth + 1)
        if not beside or not isinstance(found, dict):
            return found
        return {**found, **beside} if beside.keys() <= _WORDS else {"allOf": [found], **beside}

    def _definition(self, target: Path) -> str:
        if target not in self._names:
            name = str(target[-1]) if target else "document"
            taken = self._names.values()
            self._names[target] = name if name not in taken else "_".join(map(str, target))
            self._waiting.append(target)
        return pointer(("$defs", self._names[target]))

    def _target(self, reference: Json, path: Path) -> Path:
        target = pointer_path(reference) if isinstance(reference, str) else None
        if target is None:
            raise SchemaError(
                f"the reference {with_type(reference)} leads out of this document, and nothing is fetched",
                path,
                hint="copy what it names under `components`",
            )
        if not leads_somewhere(self._document, target):
            raise SchemaError(f"the reference `{reference}` leads nowhere", path)
        return target


def _writable(schema: _Schema) -> _Schema:
    """The schema of a request: what only a server sets is no part of it."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return schema
    fixed = {name for name, item in properties.items() if isinstance(item, Mapping) and item.get("readOnly") is True}
    if not fixed:
        return schema
    required = schema.get("required")
    names = [name for name in required if name not in fixed] if isinstance(required, list) else []
    kept = {name: item for name, item in properties.items() if name not in fixed}
    return {**schema, "properties": kept, "required": names}
