"""The functions of a case as the leaderboard tells models of them: typed for OpenAI's interface, with a hint each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pytest_fcall.core.rules import Language
from pytest_fcall.core.tool import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.suites.bfcl.fields import text

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


def documents(functions: Sequence[Mapping[str, Json]], language: Language) -> list[dict[str, Json]]:
    """The functions with what is said of their language. Arguments of Java and JavaScript are source text."""
    return [_document(function, language) for function in functions]


def told_tool(document: Mapping[str, Json]) -> Tool:
    """A document as a tool for native calls, in the types of JSON Schema."""
    parameters = document.get("parameters")
    given = parameters if isinstance(parameters, Mapping) else {}
    properties = _typed_all(given.get("properties"))
    told = {**given, "type": "object", "properties": properties}
    return Tool(text(document, "name"), str(document.get("description", "")), told)


def _document(function: Mapping[str, Json], language: Language) -> dict[str, Json]:
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
