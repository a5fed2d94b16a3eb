"""Values that a format writes as bare text, typed by the tool's schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Literal, TypeAlias

from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.python.literals import literal, repeated_dict_keys
from pytest_fcall.decoding.python_source import NotPython, parse_expression
from pytest_fcall.decoding.strict_json import NotJson, parse_json

UntypedReading: TypeAlias = Literal["text", "json"]
"""The reading of values whose type the schema does not give: as text, or as JSON where that is possible."""

ReadValue: TypeAlias = "tuple[Json, Sequence[str]]"
"""A value, and notes on what was read leniently."""

_STRING = frozenset({"string"})
_SCHEMA_TYPES: Mapping[type, frozenset[str]] = {
    bool: frozenset({"boolean"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"number"}),
    str: _STRING,
    list: frozenset({"array"}),
    dict: frozenset({"object"}),
    type(None): frozenset({"null"}),
}
_ALL_TYPES = frozenset().union(*_SCHEMA_TYPES.values())
# Many chat templates write these words, lists and objects as Python does, and models learn it from them.
_WORDS: Mapping[str, Json] = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
}


def schemas_of(tool: Tool | None) -> Mapping[str, Mapping[str, Json]]:
    """Give the schema of each parameter of a tool; none where the tool is unknown or its schema is invalid."""
    if tool is None:
        return {}
    from pytest_fcall.schema.errors import SchemaError
    from pytest_fcall.schema.tool_schema import tool_schema

    try:
        return tool_schema(tool).parameters
    except SchemaError:
        return {}


def value_by_schema(text: str, schema: Mapping[str, Json] | None, untyped: UntypedReading) -> ReadValue:
    """Give the value of a text. Text that fits no type of the schema stays text, a fault that judging will find.

    Where the schema allows text and another type, the other type is tried first, as servers do it.
    """
    types = frozenset(_types(schema or {}))
    if types == _STRING or (not types and untyped == "text"):
        return text, ()
    value, notes = _read(text.strip())
    if types and (isinstance(value, str) or types.isdisjoint(_SCHEMA_TYPES[type(value)])):
        return text, ()
    return value, notes


def _read(text: str) -> ReadValue:
    if text in _WORDS:
        return _WORDS[text], ()
    with suppress(NotJson):
        return parse_json(text)
    if text.startswith(("[", "{")):
        with suppress(NotPython):
            tree = parse_expression(text)
            return literal(tree), repeated_dict_keys(tree)
    return text, ()


def _types(schema: Mapping[str, Json]) -> Iterator[str]:
    if "$ref" in schema:
        yield from _ALL_TYPES
    declared = schema.get("type")
    yield from (each for each in (declared if isinstance(declared, list) else [declared]) if isinstance(each, str))
    if declared is None:
        for value in _list(schema.get("enum")) + ([schema["const"]] if "const" in schema else []):
            yield from _SCHEMA_TYPES.get(type(value), ())
    for keyword in ("anyOf", "oneOf", "allOf"):
        for choice in _list(schema.get(keyword)):
            if isinstance(choice, Mapping):
                yield from _types(choice)


def _list(value: Json) -> list[Json]:
    return list(value) if isinstance(value, list) else []
