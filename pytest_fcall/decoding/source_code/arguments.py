"""Arguments written as source text, read as the plain values that the tool's schema expects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pytest_fcall.core.expectation import Language
from pytest_fcall.core.reply import Call, Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.argument_values import tools_by_name
from pytest_fcall.decoding.source_code.java import read_java
from pytest_fcall.decoding.source_code.javascript import read_javascript
from pytest_fcall.decoding.source_code.syntax_tree import NotLiteral, NotSource
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.tool_schema import ToolSchema, tool_schema

_QUOTES = {"java": '"', "javascript": "\"'`"}


def typed_arguments(calls: Calls, tools: Sequence[Tool], language: Language) -> Calls:
    """Read the arguments that are source text of `language`.

    Text that is not a literal, such as the name of a variable, stays as it is, and so does text without quotes where
    the schema expects a string. Other values stay as they are.
    """
    if language == "python":
        return calls
    offered = tools_by_name(tools)
    read = read_java if language == "java" else read_javascript
    return replace(
        calls, calls=tuple(_typed_call(call, offered.get(call.name), read, language) for call in calls.calls)
    )


def _typed_call(call: Call, tool: Tool | None, read: Callable[[str], Json], language: Language) -> Call:
    try:
        schema = None if tool is None else tool_schema(tool)
    except SchemaError:
        schema = None
    if schema is None:
        return call
    values = {name: _typed_value(value, _kinds(schema, name), read, language) for name, value in call.arguments.items()}
    return replace(call, arguments=values)


def _kinds(schema: ToolSchema, name: str) -> frozenset[str]:
    """Give the types that an argument may have, none where any type is allowed."""
    kinds = schema.parameters.get(name, {}).get("type")
    listed = kinds if isinstance(kinds, list) else [kinds]
    return frozenset(each for each in listed if isinstance(each, str))


def _typed_value(value: Json, kinds: frozenset[str], read: Callable[[str], Json], language: Language) -> Json:
    if not isinstance(value, str):
        return value
    text = value.strip()
    if kinds <= {"string"} and not _is_quoted(text, _QUOTES[language] + "'"):
        return value
    try:
        typed = read(text)
    except (NotLiteral, NotSource, UnicodeEncodeError):
        return value
    return value if kinds == {"string"} and not isinstance(typed, str) else typed


def _is_quoted(text: str, quotes: str) -> bool:
    return len(text) >= 2 and text[0] in quotes and text[-1] == text[0]
