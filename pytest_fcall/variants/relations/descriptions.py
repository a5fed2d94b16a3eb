"""Relations that change how tools and parameters are described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from pytest_fcall.core.case import Case
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.core.variants import Dice, Unfit, WantedRelation
from pytest_fcall.variants.case_parts import all_tools, with_tools

_OF_TOOL: Final = (
    "Purpose: {}",
    "What this is for: {}",
    "Function of this tool: {}",
    "{} (This is what the tool does.)",
)
_OF_PARAMETER: Final = ("Meaning: {}", "What to give here: {}", "Stands for: {}", "{} (as a parameter)")
_INNER: Final = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
"""Keys whose values are schemas by name."""
_SCHEMAS: Final = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")

_Describe = Callable[[str], str | None]


def descriptions(case: Case, dice: Dice, _: WantedRelation) -> Case | Unfit:
    """Say the same of tools and parameters in other words."""
    tool, parameter = dice.one(_OF_TOOL), dice.one(_OF_PARAMETER)
    return _described(case, tool.format, parameter.format)


def no_descriptions(case: Case, _: Dice, __: WantedRelation) -> Case | Unfit:
    """Say nothing of tools and parameters but their names and types."""
    return _described(case, lambda _: None, lambda _: None)


def _described(case: Case, of_tool: _Describe, of_parameter: _Describe) -> Case | Unfit:
    if not any(_is_described(tool) for tool in all_tools(case).values()):
        return Unfit("no tool is described" if case.tools else "it has no tool")

    def change(tool: Tool) -> Tool:
        description = of_tool(tool.description) if tool.description else ""
        schema = _schema(tool.parameters, of_parameter)
        return replace(tool, description=description or "", parameters=schema)

    return with_tools(case, lambda tools: tuple(map(change, tools)))


def _is_described(tool: Tool) -> bool:
    return bool(tool.description) or _schema(tool.parameters, lambda _: None) != tool.parameters


def _schema(schema: Mapping[str, Json], describe: _Describe) -> dict[str, Json]:
    """A schema with each description in it changed, or left out. Properties of the name `description` stay."""
    changed = dict(schema)
    if isinstance(text := schema.get("description"), str) and text:
        new = describe(text)
        if new is None:
            del changed["description"]
        else:
            changed["description"] = new
    for key in _INNER:
        if isinstance(named := schema.get(key), Mapping):
            changed[key] = {name: _inner(each, describe) for name, each in named.items()}
    for key in _SCHEMAS:
        if key in schema:
            changed[key] = _inner(schema[key], describe)
    for key in _LISTS:
        if isinstance(members := schema.get(key), list | tuple):
            changed[key] = [_inner(each, describe) for each in members]
    return changed


def _inner(schema: Json, describe: _Describe) -> Json:
    return _schema(schema, describe) if isinstance(schema, Mapping) else schema
