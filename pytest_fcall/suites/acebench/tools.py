"""Functions as tools, with schemas that take what is right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_fcall.core.reply import Call
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.schema.sources.tool_data import tool_from_data
from pytest_fcall.schema.tool_schema import tool_schema


def tools_of(functions: Sequence[Mapping[str, Json]], right: Iterable[Call]) -> Iterator[Tool]:
    """Yield functions as tools. Raises SchemaError.

    A parameter may be anything if its schema forbids a right value, and may be missing if a right call lacks it.
    """
    calls = [*right]
    for function in functions:
        tool = _tool(function)
        for call in calls:
            if call.name == tool.name:
                tool = _fitting(tool, call)
        yield tool


def _tool(function: Mapping[str, Json]) -> Tool:
    """A function as a tool. Of some, the schema has another name."""
    schema = next((function[key] for key in ("parameters", "arguments", "_arguments") if key in function), None)
    return tool_from_data(
        {"name": function.get("name"), "description": function.get("description"), "parameters": schema}
    )


def _fitting(tool: Tool, call: Call) -> Tool:
    properties, required = tool.parameters.get("properties"), tool.parameters.get("required")
    if not isinstance(properties, Mapping):
        return tool
    schema, arguments = tool_schema(tool), call.arguments
    free = {key for key in arguments.keys() & properties.keys() if schema.check_at((key,), arguments[key])}
    needed = [key for key in required if key in arguments] if isinstance(required, list) else []
    freed = {key: {} if key in free else each for key, each in properties.items()}
    return replace(tool, parameters={**tool.parameters, "properties": freed, "required": needed})
