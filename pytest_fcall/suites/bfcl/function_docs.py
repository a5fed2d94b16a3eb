"""The function documents that models are given: language hints, JSON Schema types, official classes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_fcall.core.digests import IdentityKey
from pytest_fcall.core.expectation import Language
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_files import BrokenRow, read_rows, string_field

Document: TypeAlias = Mapping[str, Json]
"""A function as the leaderboard describes it, in its own types."""

DOCUMENT_FILES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "GorillaFileSystem": "gorilla_file_system",
        "MathAPI": "math_api",
        "MessageAPI": "message_api",
        "TwitterAPI": "posting_api",
        "TicketAPI": "ticket_api",
        "TradingBot": "trading_bot",
        "TravelAPI": "travel_booking",
        "VehicleControlAPI": "vehicle_control",
        "WebSearchAPI": "web_search",
        "MemoryAPI_kv": "memory_kv",
        "MemoryAPI_vector": "memory_vector",
        "MemoryAPI_rec_sum": "memory_rec_sum",
    }
)
"""The files of documents, by the official class."""
_SYNTAX: Mapping[Language, str] = MappingProxyType(
    {"python": "Python 3", "java": "Java 8 SDK", "javascript": "JavaScript"}
)
_LISTS: Mapping[Language, frozenset[str]] = MappingProxyType(
    {"java": frozenset({"ArrayList", "Array"}), "javascript": frozenset({"array"}), "python": frozenset()}
)
_JSON_TYPES: Mapping[str, str] = MappingProxyType(
    {name: name for name in ("integer", "number", "string", "boolean", "array", "object")}
    | dict.fromkeys(("byte", "short", "long", "Bigint"), "integer")
    | dict.fromkeys(("float", "double"), "number")
    | dict.fromkeys(("list", "tuple", "ArrayList", "Array", "Queue", "Stack"), "array")
    | dict.fromkeys(("dict", "HashMap", "Hashtable"), "object")
    | {"bool": "boolean"}
)
"""The types of JSON Schema, by the leaderboard's type. All others become strings."""


def with_language_hints(documents: Sequence[Document], language: Language) -> list[dict[str, Json]]:
    """Return the documents with notes on their language. Arguments of Java and JavaScript become source text."""
    return [_with_language_hint(document, language) for document in documents]


def _with_language_hint(document: Document, language: Language) -> dict[str, Json]:
    hint = f"{document.get('description', '')} Note that the provided function is in {_SYNTAX[language]} syntax."
    hinted = {**document, "description": hint}
    parameters = document.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
    if language != "python" and isinstance(parameters, Mapping) and isinstance(properties, Mapping):
        as_source = {name: _as_source(schema, language) for name, schema in properties.items()}
        hinted["parameters"] = {**parameters, "properties": as_source}
    return hinted


def _as_source(schema: Json, language: Language) -> Json:
    if not isinstance(schema, Mapping):
        return schema
    changed, kind = dict(schema), str(schema.get("type"))
    name = "Java" if language == "java" else "JavaScript"
    description = f"{schema.get('description', '')} " + (
        f"This parameter can be of any type of {name} object in string representation."
        if kind == "any"
        else f"This is {name} {kind} type parameter in string representation."
    )
    if kind in _LISTS[language] and isinstance(items := changed.pop("items", None), Mapping):
        description += f" The list elements are of type {items.get('type')}; they are not in string representation."
    if kind == "dict" and language == "javascript" and (entries := changed.pop("properties", None)) is not None:
        description += (
            " The dictionary entries have the following schema; they are not in string representation. "
            + json.dumps(entries)
        )
    return {**changed, "description": description, "type": "string"}


class NativeTools:
    """Documents as tools for native calls. Each document is converted once, however many cases share it."""

    def __init__(self) -> None:
        self._tools: dict[IdentityKey[Document], Tool] = {}

    def __call__(self, document: Document) -> Tool:
        """Return the tool of a document, which is recognized by its identity."""
        known = IdentityKey(document)
        if known not in self._tools:
            self._tools[known] = native_tool(document)
        return self._tools[known]


def native_tool(document: Document) -> Tool:
    """Return a document as a tool for native calls, in the types of JSON Schema. Raises BrokenRow without a name."""
    parameters = document.get("parameters")
    given = parameters if isinstance(parameters, Mapping) else {}
    schema = {**given, "type": "object", "properties": _typed_all(given.get("properties"))}
    response = document.get("response")
    return Tool(
        string_field(document, "name"),
        str(document.get("description", "")),
        schema,
        declared=given,
        returns=response if isinstance(response, Mapping) else None,
    )


def _typed_all(properties: Json) -> dict[str, Json]:
    return {name: _typed(schema) for name, schema in properties.items()} if isinstance(properties, Mapping) else {}


def _typed(schema: Json) -> Json:
    """A parameter in the types of JSON Schema, with its properties or items, and theirs."""
    if not isinstance(schema, Mapping):
        return schema
    typed, kind = dict(schema), schema.get("type")
    typed["type"] = _json_type(kind)
    if kind == "float":
        typed["format"] = "float"
        typed["description"] = f"{typed.get('description', '')} This is a float type value."
    if typed["type"] not in ("array", "object"):
        return typed
    if "properties" in typed:
        typed["properties"] = _typed_all(typed["properties"])
    elif isinstance(items := typed.get("items"), Mapping):
        typed["items"] = _typed_items(items)
    return typed


def _typed_items(items: Mapping[str, Json]) -> dict[str, Json]:
    typed = {**items, "type": _json_type(items.get("type"))}
    inner = items.get("items")
    if typed["type"] == "array" and isinstance(inner, Mapping):
        typed["items"] = {**inner, "type": _json_type(inner.get("type"))}
    elif typed["type"] == "object" and "properties" in typed:
        typed["properties"] = _typed_all(typed["properties"])
    return typed


def _json_type(name: Json) -> str:
    return _JSON_TYPES.get(name, "string") if isinstance(name, str) else "string"


class ClassDocuments:
    """The documents of the official classes, in the folder of the leaderboard's data."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "multi_turn_func_doc"
        self._known: dict[str, Sequence[Document]] = {}
        self._hinted: dict[IdentityKey[Document], Document] = {}

    def by_turn(self, classes: Sequence[str], held_back: Mapping[str, Sequence[str]]) -> list[list[Document]]:
        """Return the documents offered at first, then those that are new with each entry of `held_back`.

        `held_back` has names of functions by turn. As in the official harness, these functions have no note on their
        language. Raises BrokenRow for an unknown name.
        """
        offered = [document for name in classes for document in self._of_class(name)]
        later = [[_take_out(name, offered) for name in names] for names in held_back.values()]
        return [[*map(self._with_hint, offered)], *later]

    def _with_hint(self, document: Document) -> Document:
        """The document with a note on its language; all cases share one object."""
        known = IdentityKey(document)
        if known not in self._hinted:
            (self._hinted[known],) = with_language_hints([document], "python")
        return self._hinted[known]

    def _of_class(self, name: str) -> Sequence[Document]:
        if name not in DOCUMENT_FILES:
            raise BrokenRow(f"no class {name!r:.80}; available: {', '.join(DOCUMENT_FILES)}")
        if name not in self._known:
            self._known[name] = list(read_package_rows(self._folder / f"{DOCUMENT_FILES[name]}.json"))
        return self._known[name]


def _take_out(name: str, offered: list[Document]) -> Document:
    for index, document in enumerate(offered):
        if document.get("name") == name:
            return offered.pop(index)
    raise BrokenRow(f"no function {name!r:.80} to hold back")


def read_package_rows(path: Path) -> Iterator[Mapping[str, Json]]:
    """Yield the rows of a file that comes with the package. Raises ValueError for a file or row that cannot be read."""
    try:
        yield from (row.record for row in read_rows(path))
    except (OSError, BrokenRow) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise ValueError(f"cannot read {path}: {why or error}") from None
