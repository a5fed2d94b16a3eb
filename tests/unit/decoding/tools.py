"""Tools that texts of tests call."""

from __future__ import annotations

from pytest_fcall.core import Tool


def tool(name: str, **types: str) -> Tool:
    """A tool with parameters of these types, in this order."""
    return Tool(name, parameters={"type": "object", "properties": {key: {"type": each} for key, each in types.items()}})


WEATHER = tool("get_weather", city="string", days="integer")
TOOLS = (WEATHER, tool("math.add", a="number", b="number"), tool("ping"))
