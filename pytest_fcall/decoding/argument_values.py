"""Arguments that a format writes without names, or as bare text: named and typed by the schema of the tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Literal, TypeAlias

from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.python_source import NotPython, literal, parse_expression, repeated_dict_keys
from pytest_fcall.decoding.strict_json import NotJson, parse_json
from pytest_fcall.decoding.unreadable_text import Unreadable, quote_short

_MOST_NAMED = 5
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


def tools_by_name(tools: Sequence[Tool]) -> Mapping[str, Tool]:
    """The tools by their names."""
    return {tool.name: tool for tool in tools}


def named_arguments(
    name: str, positional: Sequence[Json], named: Mapping[str, Json], tools: Mapping[str, Tool]
) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Give all arguments of a call by name, in the order of writing, and a note where some were positional.

    Positional arguments take the names of the tool's parameters, in the order of its schema. Raises Unreadable where
    the tool is unknown, has too few parameters, or gets an argument twice.
    """
    if not positional:
        return dict(named), ()
    names = _parameter_names(name, len(positional), tools)
    if repeated := next((each for each in names if each in named), None):
        raise Unreadable(
            f"the argument {quote_short(repeated)} of {quote_short(name)} is given by position and by name"
        )
    shown = ", ".join(f"`{each}`" for each in names[:_MOST_NAMED]) + (" …" if len(names) > _MOST_NAMED else "")
    note = f"Positional arguments of {quote_short(name)} were read as {shown}."
    return dict(zip(names, positional, strict=True)) | dict(named), (note,)


def _parameter_names(name: str, count: int, tools: Mapping[str, Tool]) -> tuple[str, ...]:
    if (tool := tools.get(name)) is None:
        why = "which was not offered" if tools else "whose signature is not known"
        raise Unreadable(f"positional arguments of {quote_short(name)}, {why}, have no names")
    properties = tool.parameters.get("properties")
    names = tuple(properties) if isinstance(properties, Mapping) else ()
    if count > len(names):
        raise Unreadable(f"{quote_short(name)} takes {len(names)} arguments, but {count} were given by position")
    return names[:count]


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
