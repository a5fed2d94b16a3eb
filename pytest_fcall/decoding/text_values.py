"""Values that a format writes as bare text: what they are, the tool's schema says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Literal, TypeAlias

from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.python.literals import literal, repeated_dict_keys
from pytest_fcall.decoding.python.source import NotPython, parse_expression
from pytest_fcall.decoding.strict_json import NotJson, parse_json

UntypedReading: TypeAlias = Literal["text", "json"]
"""What a value is of whose type the schema says nothing: text, or JSON wherever it can be read as such."""

ReadValue: TypeAlias = "tuple[Json, Sequence[str]]"
"""A value, and notes on what was read generously."""


def schemas_of(tool: Tool | None) -> Mapping[str, Mapping[str, Json]]:
    """Give what the tool's schema says of each parameter."""
    if tool is None:
        return {}
    from pytest_fcall.schema.errors import SchemaError
    from pytest_fcall.schema.tool_schema import tool_schema

    try:
        return tool_schema(tool).parameters
    except SchemaError:
        return {}


def value_by_schema(text: str, schema: Mapping[str, Json] | None, untyped: UntypedReading) -> ReadValue:
    """Give the value; text that is nothing of what the schema allows stays text, for the judge to find.

    Where text and something else are allowed, whatever can be read as something else is that, as servers have it.
    """
    types = frozenset(_types(schema or {}))
    if types == _STRING or (not types and untyped == "text"):
        return text, ()
    value, notes = _read(text.strip())
    if types and (isinstance(value, str) or types.isdisjoint(_NAMES[type(value)])):
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
        yield from _ALL
    declared = schema.get("type")
    yield from (each for each in (declared if isinstance(declared, list) else [declared]) if isinstance(each, str))
    if declared is None:
        for value in _list(schema.get("enum")) + ([schema["const"]] if "const" in schema else []):
            yield from _NAMES.get(type(value), ())
    for keyword in ("anyOf", "oneOf", "allOf"):
        for choice in _list(schema.get(keyword)):
            if isinstance(choice, Mapping):
                yield from _types(choice)


def _list(value: Json) -> list[Json]:
    return list(value) if isinstance(value, list) else []


# As Python writes them, too, and lists and objects likewise: many chat templates do, and so models learn it.
_WORDS: Mapping[str, Json] = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
}
_STRING = frozenset({"string"})
_NAMES: Mapping[type, frozenset[str]] = {
    bool: frozenset({"boolean"}),
    int: frozenset({"integer", "number"}),
    float: frozenset({"number"}),
    str: _STRING,
    list: frozenset({"array"}),
    dict: frozenset({"object"}),
    type(None): frozenset({"null"}),
}
_ALL = frozenset().union(*_NAMES.values())
