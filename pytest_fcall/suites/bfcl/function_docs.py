"""The function documents that models are given: language hints, JSON Schema types, official classes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_fcall.core.expectation import Language
from pytest_fcall.core.identity_key import IdentityKey
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.row_fields import text_field
from pytest_fcall.suites.json_files import BrokenFile, BrokenRow, open_lines, parse_record, read_lines

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
"""All others are told as text."""


def with_language_hints(functions: Sequence[Mapping[str, Json]], language: Language) -> list[dict[str, Json]]:
    """The functions with what is said of their language. Arguments of Java and JavaScript are source text."""
    return [_with_language_hint(function, language) for function in functions]


def native_tool(document: Mapping[str, Json]) -> Tool:
    """A document as a tool for native calls, in the types of JSON Schema."""
    parameters = document.get("parameters")
    given = parameters if isinstance(parameters, Mapping) else {}
    properties = _typed_all(given.get("properties"))
    told = {**given, "type": "object", "properties": properties}
    return Tool(text_field(document, "name"), str(document.get("description", "")), told)


def _with_language_hint(function: Mapping[str, Json], language: Language) -> dict[str, Json]:
    hint = f"{function.get('description', '')} Note that the provided function is in {_SYNTAX[language]} syntax."
    document = {**function, "description": hint}
    parameters = function.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
    if language != "python" and isinstance(parameters, Mapping) and isinstance(properties, Mapping):
        told = {name: _as_source(schema, language) for name, schema in properties.items()}
        document["parameters"] = {**parameters, "properties": told}
    return document


def _as_source(schema: Json, language: Language) -> Json:
    if not isinstance(schema, Mapping):
        return schema
    told, kind = dict(schema), str(schema.get("type"))
    name = "Java" if language == "java" else "JavaScript"
    said = f"{schema.get('description', '')} " + (
        f"This parameter can be of any type of {name} object in string representation."
        if kind == "any"
        else f"This is {name} {kind} type parameter in string representation."
    )
    if kind in _LISTS[language] and isinstance(items := told.pop("items", None), Mapping):
        said += f" The list elements are of type {items.get('type')}; they are not in string representation."
    if kind == "dict" and language == "javascript" and (entries := told.pop("properties", None)) is not None:
        said += (
            " The dictionary entries have the following schema; they are not in string representation. "
            + json.dumps(entries)
        )
    return {**told, "description": said, "type": "string"}


def _typed_all(properties: Json) -> dict[str, Json]:
    return {name: _typed(schema) for name, schema in properties.items()} if isinstance(properties, Mapping) else {}


def _typed(schema: Json) -> Json:
    """A parameter, its keys or items, and the keys or items of these."""
    if not isinstance(schema, Mapping):
        return schema
    told, kind = dict(schema), schema.get("type")
    told["type"] = _json_type(kind)
    if kind == "float":
        told["format"] = "float"
        told["description"] = f"{told.get('description', '')} This is a float type value."
    if told["type"] not in ("array", "object"):
        return told
    if "properties" in told:
        told["properties"] = _typed_all(told["properties"])
    elif isinstance(items := told.get("items"), Mapping):
        told["items"] = _typed_items(items)
    return told


def _typed_items(items: Mapping[str, Json]) -> dict[str, Json]:
    told = {**items, "type": _json_type(items.get("type"))}
    inner = items.get("items")
    if told["type"] == "array" and isinstance(inner, Mapping):
        told["items"] = {**inner, "type": _json_type(inner.get("type"))}
    elif told["type"] == "object" and "properties" in told:
        told["properties"] = _typed_all(told["properties"])
    return told


def _json_type(name: Json) -> str:
    return _JSON_TYPES.get(name, "string") if isinstance(name, str) else "string"


Document: TypeAlias = Mapping[str, Json]

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


class ClassDocuments:
    """The documents of all classes, in a folder of the leaderboard's data."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "multi_turn_func_doc"
        self._known: dict[str, Sequence[Document]] = {}
        self._hinted: dict[IdentityKey[Document], Document] = {}

    def of(self, classes: Sequence[str], held_back: Mapping[str, Sequence[str]]) -> list[list[Document]]:
        """What is offered at first, and then what is new with each entry of `held_back`, which has names by turn.

        What is held back lacks the hint at its language, as it does officially. BrokenRow where a name is not known.
        """
        offered = [document for name in classes for document in self._of_class(name)]
        later = [[_take_out(name, offered) for name in names] for names in held_back.values()]
        return [[*map(self._with_hint, offered)], *later]

    def _with_hint(self, document: Document) -> Document:
        """The document with its hint, which is one object, however many cases have it."""
        known = IdentityKey(document)
        if known not in self._hinted:
            (self._hinted[known],) = with_language_hints([document], "python")
        return self._hinted[known]

    def _of_class(self, name: str) -> Sequence[Document]:
        if name not in DOCUMENT_FILES:
            raise BrokenRow(f"there is no class {name!r:.80}: there is {', '.join(DOCUMENT_FILES)}")
        if name not in self._known:
            self._known[name] = list(read_package_rows(self._folder / f"{DOCUMENT_FILES[name]}.json"))
        return self._known[name]


def _take_out(name: str, offered: list[Document]) -> Document:
    for place, document in enumerate(offered):
        if document.get("name") == name:
            return offered.pop(place)
    raise BrokenRow(f"there is no function {name!r:.80} to be held back")


def read_package_rows(path: Path) -> Iterator[Mapping[str, Json]]:
    """The rows of a file that comes with the package. Raises ValueError, in words, where it cannot be read."""
    try:
        with open_lines(path) as stream:
            yield from (parse_record(line) for line in read_lines(stream) if line.strip())
    except (OSError, BrokenFile, BrokenRow) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ValueError(f"{path} cannot be read: {told}") from None
