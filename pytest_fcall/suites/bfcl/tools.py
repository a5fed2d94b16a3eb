"""The functions of a case as Tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from pytest_fcall.core.tool import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.schema import SchemaError, normalise, tool_from_data, tool_schema
from pytest_fcall.suites.bfcl.fields import text
from pytest_fcall.suites.bfcl.truth import OMITTABLE, TrueCall


def tools_of(functions: Sequence[Mapping[str, Json]], truth: Sequence[TrueCall]) -> tuple[Tool, ...]:
    """Read the functions offered.

    What is right, the ground truth says: a parameter whose schema forbids every right value is left free.
    """
    return tuple(_reconciled(_tool(function), truth) for function in functions)


def _tool(function: Mapping[str, Json]) -> Tool:
    """Read one function. What is wrong with the schema of a parameter leaves that parameter free, and no other."""
    try:
        return tool_from_data(function)
    except SchemaError:
        parameters = function.get("parameters")
        declared = parameters if isinstance(parameters, Mapping) else {}
        return Tool(
            text(function, "name"), str(function.get("description", "")), _salvaged(declared), declared=declared
        )


def _salvaged(parameters: Mapping[str, Json]) -> Mapping[str, Json]:
    properties, required = parameters.get("properties"), parameters.get("required")
    named = properties if isinstance(properties, Mapping) else {}
    return {
        "type": "object",
        "properties": {key: _sound(key, schema) for key, schema in named.items()},
        "required": [key for key in required if key in named] if isinstance(required, list) else [],
    }


def _sound(key: str, schema: Json) -> Json:
    try:
        properties = normalise({"type": "object", "properties": {key: schema}})["properties"]
    except SchemaError:
        return {}
    return properties[key] if isinstance(properties, Mapping) else {}


def _reconciled(tool: Tool, truth: Sequence[TrueCall]) -> Tool:
    properties = tool.parameters.get("properties")
    if not isinstance(properties, Mapping):
        return tool
    right: dict[str, list[list[Json]]] = {}
    for call in truth:
        if call.name == tool.name:
            for key in call.arguments.keys() & properties.keys():
                right.setdefault(key, []).append(_values(call.arguments[key]))
    free = {
        key: list(chain(*found)) for key, found in right.items() if any(_forbidden(tool, key, each) for each in found)
    }
    if not free:
        return tool
    freed = {key: _freed(schema, free[key]) if key in free else schema for key, schema in properties.items()}
    return replace(tool, parameters={**tool.parameters, "properties": freed})


def _values(options: Json) -> list[Json]:
    values = [option for option in options if option != OMITTABLE] if isinstance(options, list) else [options]
    return [_example(value) for value in values]


def _forbidden(tool: Tool, key: str, values: Sequence[Json]) -> bool:
    try:
        schema = tool_schema(tool)
    except SchemaError:
        return False
    return bool(values) and all(schema.check_at((key,), value) for value in values)


def _freed(schema: Json, values: Sequence[Json]) -> dict[str, Json]:
    """Nothing but what a value left out means, and that 1.0 is no integer."""
    kept = (
        {key: schema[key] for key in ("description", "default") if key in schema} if isinstance(schema, Mapping) else {}
    )
    return {"type": "integer", **kept} if all(type(value) is int for value in values) else kept


def _example(option: Json) -> Json:
    """A value that an alternative allows: for each key of an object the first of its own alternatives."""
    if isinstance(option, list):
        return [_example(item) if isinstance(item, Mapping) else item for item in option]
    if not isinstance(option, Mapping):
        return option
    chosen = {key: options[0] if isinstance(options, list) and options else options for key, options in option.items()}
    return {key: value for key, value in chosen.items() if value != OMITTABLE}
