"""The tools that a trace says were offered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache

from pytest_fcall.core import Json, Tool
from pytest_fcall.schema import SchemaError, tools_from_data
from pytest_fcall.traces.values import items, mapping, parsed


def tools_of(told: Json) -> tuple[Tool, ...]:
    """Read tools in any provider's shape. What the provider runs itself is no tool to test, and left out."""
    return _read(told if isinstance(told, str) else json.dumps(told)) if told else ()


@lru_cache(maxsize=256)  # an app offers the same tools with every request
def _read(told: str) -> tuple[Tool, ...]:
    found: dict[str, Tool] = {}
    for each in items(parsed(told)):
        for tool in _tools(parsed(each)):
            found.setdefault(tool.name, tool)
    return tuple(found.values())


def _tools(told: Json) -> Iterator[Tool]:
    if schema := mapping(told).get("json_schema"):  # OpenInference
        told = parsed(schema)
    try:
        yield from tools_from_data(told)
    except (SchemaError, RecursionError):
        return
