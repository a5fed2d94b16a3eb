"""A tool as the official checker is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pytest_fcall.core.tool import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.schema import tool_schema
from pytest_fcall.schema.pointers import in_place

_WORDS: Mapping[Json, str] = MappingProxyType(
    {
        "string": "string",
        "integer": "integer",
        "number": "float",
        "boolean": "boolean",
        "array": "array",
        "object": "dict",
    }
)


def document(tool: Tool) -> dict[str, Any]:
    """Give the tool's name and parameters: as they were written, if in the leaderboard's words."""
    declared = tool.declared
    if declared is not None and declared.get("type") == "dict":
        return {"name": tool.name, "parameters": {"properties": {}, "required": [], **declared}}
    root, known = tool.parameters, tool_schema(tool)
    properties = {name: _declared(root, part) for name, part in known.parameters.items()}
    return {"name": tool.name, "parameters": {"properties": properties, "required": sorted(known.required)}}


def _declared(root: Mapping[str, Json], part: Json) -> dict[str, Any]:
    items = next((piece["items"] for piece, _ in in_place(root, part) if "items" in piece), None)
    return {"type": _word(root, part), "items": {"type": _word(root, items)}}


def _word(root: Mapping[str, Json], part: Json) -> str:
    """Name the one type that is declared beside null; where there are more, or none, whatever the case expects."""
    named = (piece.get("type") for piece, _ in in_place(root, part))
    types = {word for each in named for word in (each if isinstance(each, list) else [each]) if word is not None}
    (word, *more) = types - {"null"} or {None}
    return "any" if more else _WORDS.get(word, "any")
