"""Tools from an OpenAPI document, 3.0 or 3.1: one for each operation."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from urllib.parse import urljoin

from pytest_fcall.core.message_text import did_you_mean, shown, with_type
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, mapping_or_empty
from pytest_fcall.schema.dialect import MAX_SCHEMA_DEPTH, normalise
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.traversal import Path, look_up, path_exists, pointer, pointer_path, rebuild_schema

_MOST_COPIES: Final = 500
_LONGEST_CHAIN: Final = 20
_ANNOTATIONS = frozenset(
    {"title", "description", "default", "example", "examples", "deprecated", "nullable", "summary"}
)
"""Keywords that are allowed next to a `$ref`, and take precedence over those of its target."""

_Schema = dict[str, Json]


class DocumentReferences:
    """The references of one tool to other parts of its document.

    Their targets are copied to where they are used, which models read most easily. A target that refers to itself
    becomes a definition; once there are too many copies, all further targets do.
    """

    def __init__(self, document: Mapping[str, Json]) -> None:
        self._document = document
        self._copies = 0
        self._names: dict[Path, str] = {}
        self._waiting: deque[Path] = deque()

    def follow(self, node: Json, path: Path) -> tuple[Mapping[str, Json], Path]:
        """The object that a node is or refers to, and its path."""
        for _ in range(_LONGEST_CHAIN):
            if not isinstance(node, Mapping):
                raise SchemaError(f"this must be a mapping, not {with_type(node)}", path)
            if "$ref" not in node:
                return node, path
            path = self._target(node["$ref"], (*path, "$ref"))
            node = look_up(self._document, path)
        raise SchemaError("the reference is circular", path)

    def inlined(self, schema: Json, path: Path) -> Json:
        """A copy of a schema in which references only lead to `definitions`."""
        return self._copy(schema, path, ())

    def definitions(self) -> _Schema:
        """The definitions that the copies refer to."""
        found: _Schema = {}
        while self._waiting:
            path = self._waiting.popleft()
            found[self._names[path]] = self._copy(look_up(self._document, path), path, (path,))
        return found

    def _copy(self, schema: Json, path: Path, within: tuple[Path, ...], depth: int = 0) -> Json:
        if not isinstance(schema, Mapping):
            return schema
        if depth > MAX_SCHEMA_DEPTH // 2:
            raise SchemaError("the schema is nested too deeply", path)
        if "$ref" in schema:
            return self._followed(schema, path, within, depth)
        return _writable(rebuild_schema(schema, lambda way, inner: self._copy(inner, (*path, *way), within, depth + 1)))

    def _followed(self, schema: Mapping[str, Json], path: Path, within: tuple[Path, ...], depth: int) -> Json:
        target = self._target(schema["$ref"], (*path, "$ref"))
        beside: _Schema = {key: value for key, value in schema.items() if key != "$ref"}
        if target in within or self._copies >= _MOST_COPIES or len(within) >= _LONGEST_CHAIN:
            return {"$ref": self._definition(target), **beside}
        self._copies += 1
        found = self._copy(look_up(self._document, target), target, (*within, target), depth + 1)
        if not beside or not isinstance(found, dict):
            return found
        return {**found, **beside} if beside.keys() <= _ANNOTATIONS else {"allOf": [found], **beside}

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
                f"the reference {with_type(reference)} is outside this document; remote references are not loaded",
                path,
                hint="copy its target into `components`",
            )
        if not path_exists(self._document, target):
            raise SchemaError(f"the reference `{reference}` cannot be resolved", path)
        return target


def _writable(schema: _Schema) -> _Schema:
    """The schema of a request, without properties that only a server sets."""
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


_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_PLACES = ("path", "query", "header")
_TRANSPORT = frozenset({"accept", "authorization", "content-type"})
"""Headers that are not parameters, according to OpenAPI."""

_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


@dataclass(frozen=True, slots=True)
class _Operation:
    """An operation of a specification, and the place where it stands."""

    method: str
    route: str
    node: Mapping[str, Json]
    item: Mapping[str, Json]
    """The path item, which all operations of the path share."""

    @property
    def path(self) -> Path:
        return ("paths", self.route, self.method)

    @property
    def title(self) -> str:
        return f"{self.method.upper()} {self.route}"

    @property
    def name(self) -> str:
        name = self.node.get("operationId")
        return name if isinstance(name, str) and name else re.sub(r"\W+", "_", f"{self.method}{self.route}").strip("_")


@dataclass(frozen=True, slots=True)
class _Argument:
    """An argument of the tool, and its place in the request."""

    name: str
    place: str
    schema: Json
    required: bool
    style: Mapping[str, Json] = field(default_factory=dict)
    """Its encoding there."""


def tools_from_openapi(document: Json, operations: Sequence[str] | None = None, *, base: str = "") -> list[Tool]:
    """Read the tools of an OpenAPI document; `base` is its address if it is not a file.

    `operations` selects operations by operationId or as `GET /pets`; None selects all. The parameters of an operation
    and the properties of its JSON body become the arguments of one tool.
    """
    document = _checked(document)
    offered = list(_operations(document))
    wanted = offered if operations is None else [_selected(name, offered) for name in operations]
    return [_tool(document, operation, base) for operation in wanted]


def _checked(document: Json) -> Mapping[str, Json]:
    if not isinstance(document, Mapping):
        raise SchemaError(f"an OpenAPI document must be a mapping, not {with_type(document)}")
    if "swagger" in document:
        raise SchemaError(
            "this is Swagger 2.0", ("swagger",), hint="convert it to OpenAPI 3, for example by converter.swagger.io"
        )
    version = document.get("openapi")
    if not str(version).startswith("3."):
        raise SchemaError(
            "this is not an OpenAPI 3 document" if version is None else f"OpenAPI {shown(version)} is not supported",
            () if version is None else ("openapi",),
            hint="its first key must be `openapi: 3.0.x` or `openapi: 3.1.x`",
        )
    return document


def _operations(document: Mapping[str, Json]) -> Iterator[_Operation]:
    paths = document.get("paths")
    for route, item in paths.items() if isinstance(paths, Mapping) else ():
        node, _ = DocumentReferences(document).follow(item, ("paths", route))
        for method in _METHODS:
            if isinstance(operation := node.get(method), Mapping):
                yield _Operation(method, str(route), operation, node)


def _selected(name: str, offered: Sequence[_Operation]) -> _Operation:
    for operation in offered:
        if name in {operation.name, operation.title}:
            return operation
    hint = did_you_mean(name, [other for operation in offered for other in (operation.name, operation.title)])
    raise SchemaError(
        f"the document has no operation `{name}`", hint=hint or "name it by its operationId or as `GET /path`"
    )


def _tool(document: Mapping[str, Json], operation: _Operation, base: str) -> Tool:
    references = DocumentReferences(document)
    arguments = [*_parameters(references, operation)]
    rest: _Schema = {}
    if "requestBody" in operation.node:
        body, rest = _body(references, operation)
        arguments += body
    properties = _named(arguments, operation)
    schema: _Schema = {
        "type": "object",
        "properties": {name: argument.schema for name, argument in properties.items()},
        "required": [name for name, argument in properties.items() if argument.required],
        **rest,
    }
    if definitions := references.definitions():
        schema["$defs"] = definitions
    try:
        parameters = normalise(schema)
    except SchemaError as error:
        raise SchemaError(f"{operation.title}: {error.message}", operation.path, error.hint) from None
    origin = {"openapi": _sending(document, operation, properties, references, base)}
    source = f"openapi: {operation.title}"
    return Tool(operation.name, _description(operation.node), parameters, source, origin=origin)


def _sending(
    document: Mapping[str, Json],
    operation: _Operation,
    properties: Mapping[str, _Argument],
    references: DocumentReferences,
    base: str,
) -> _Schema:
    """The rules by which the arguments of the tool become a request."""
    places: _Schema = {
        name: {"in": argument.place, "name": argument.name, **argument.style} for name, argument in properties.items()
    }
    sending: _Schema = {"method": operation.method, "path": operation.route, "parameters": places}
    if server := _server(document, operation, base):
        sending["server"] = server
    if "requestBody" in operation.node:
        node, _ = references.follow(operation.node["requestBody"], (*operation.path, "requestBody"))
        sending["media_type"] = _media_type(node)
    return sending


def _server(document: Mapping[str, Json], operation: _Operation, base: str) -> str:
    """The first address of the operation, its path or the document, with the default values of its variables."""
    for level in (operation.node, operation.item, document):
        match level.get("servers"):
            case [{"url": str(url), **rest}, *_]:
                variables = mapping_or_empty(rest.get("variables"))
                return urljoin(base, re.sub(r"\{([^{}]*)\}", partial(_default_value, variables), url))
    return urljoin(base, "/") if base else ""


def _default_value(variables: Mapping[str, Json], placeholder: re.Match[str]) -> str:
    return str(mapping_or_empty(variables.get(placeholder[1])).get("default", ""))


def _description(node: Mapping[str, Json]) -> str:
    words = [text.strip() for key in ("summary", "description") if isinstance(text := node.get(key), str)]
    return "\n\n".join(dict.fromkeys(filter(None, words)))


def _parameters(references: DocumentReferences, operation: _Operation) -> Iterator[_Argument]:
    found: dict[tuple[str, str], _Argument] = {}
    shared = ("paths", operation.route, "parameters")
    for items, path in (
        (operation.item.get("parameters"), shared),
        (operation.node.get("parameters"), (*operation.path, "parameters")),
    ):
        for index, item in enumerate(items if isinstance(items, Sequence) and not isinstance(items, str) else ()):
            argument = _parameter(references, item, (*path, index))
            if argument.place in _PLACES and not (argument.place == "header" and argument.name.lower() in _TRANSPORT):
                found[argument.place, argument.name] = argument
    yield from found.values()


def _parameter(references: DocumentReferences, item: Json, path: Path) -> _Argument:
    node, path = references.follow(item, path)
    name, place = node.get("name"), node.get("in")
    if not isinstance(name, str) or not isinstance(place, str):
        raise SchemaError("a parameter needs `name` and `in`", path)
    given = (node["schema"], (*path, "schema")) if "schema" in node else _content(node, path)
    schema = references.inlined(*given)
    if isinstance(words := node.get("description"), str) and isinstance(schema, dict):
        schema = {**schema, "description": words}
    style: _Schema = {key: node[key] for key in ("style", "explode") if key in node}
    if "schema" not in node:
        style = {"media_type": _media_type(node)}
    return _Argument(name, place, schema, node.get("required") is True or place == "path", style)


def _content(node: Mapping[str, Json], path: Path) -> tuple[Json, Path]:
    """The schema of a body or parameter, and its path: that of JSON, else of a form, else the first."""
    kind = _media_type(node)
    if not kind:
        return {}, path
    media = mapping_or_empty(mapping_or_empty(node.get("content"))[kind])
    return media.get("schema", {}), (*path, "content", kind, "schema")


def _media_type(node: Mapping[str, Json]) -> str:
    return min(mapping_or_empty(node.get("content")), key=_rank, default="")


def _rank(media_type: str) -> int:
    kind = str(media_type).partition(";")[0].strip().lower()
    if kind == "application/json" or kind.endswith("+json"):
        return 0
    return 1 if kind in _FORMS else 2


def _body(references: DocumentReferences, operation: _Operation) -> tuple[list[_Argument], _Schema]:
    """The properties of the body as arguments, and the keywords for further ones; else one argument, `body`."""
    node, path = references.follow(operation.node["requestBody"], (*operation.path, "requestBody"))
    needed = node.get("required") is True
    schema = references.inlined(*_content(node, path))
    parts = _parts(schema)
    if not parts:
        return [_Argument("body", "body", schema, needed, {"whole": True})], {}
    properties = {name: item for part in parts for name, item in mapping_or_empty(part.get("properties")).items()}
    required = {name for part in parts if isinstance(names := part.get("required"), list) for name in names}
    arguments = [_Argument(name, "body", item, needed and name in required) for name, item in properties.items()]
    rest = {key: part[key] for part in parts for key in ("additionalProperties", "patternProperties") if key in part}
    return arguments, rest


def _parts(schema: Json) -> list[Mapping[str, Json]]:
    """The pieces of an object that lists all its properties, itself or in `allOf`; none for any other schema."""
    if not isinstance(schema, Mapping) or schema.keys() & {"$ref", "anyOf", "oneOf", "if", "not"}:
        return []
    branches = schema.get("allOf", [])
    inner = [_parts(branch) for branch in branches] if isinstance(branches, list) else [[]]
    own = [schema] if mapping_or_empty(schema.get("properties")) else []
    return [*own, *(part for parts in inner for part in parts)] if all(inner) else []


def _named(arguments: Sequence[_Argument], operation: _Operation) -> dict[str, _Argument]:
    """The arguments by unique names: if two have the same name, their places are prefixed."""
    count = Counter(argument.name for argument in arguments)
    named: dict[str, _Argument] = {}
    for argument in arguments:
        name = argument.name if count[argument.name] == 1 else f"{argument.place}_{argument.name}"
        if name in named:
            raise SchemaError(f"{operation.title} has two arguments called `{name}`", operation.path)
        named[name] = argument
    return named
