"""Repairs of known faults in the published data: misspelt functions, missing functions, wrong arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Final

from pytest_fcall.core.reply import Call
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json

_SIMILARITY: Final = 0.94
"""How much of two names of functions must be alike for one to be a slip of the other: a letter or two of many."""
_TYPES: Final = ((bool, "boolean"), (int | float, "number"), (str, "string"))


@dataclass(slots=True)
class Repairs:
    """Mends the right calls of one part, and keeps what it did in words."""

    tools: dict[str, Tool]
    """All that is offered; a function that is called rightly, and was not offered, comes in."""
    said: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, offered: Sequence[Tool]) -> Repairs:
        """Begin with the functions of a part; of two by one name, the first is offered."""
        tools: dict[str, Tool] = {}
        mending = cls(tools)
        for tool in offered:
            name = tool.name.strip()
            if name in tools:
                mending.said.append(f"the function `{name}` is offered once, not twice")
            tools.setdefault(name, replace(tool, name=name))
        return mending

    def mended(self, question: str, call: Call) -> tuple[Call, tuple[str, ...]]:
        """The call as it can be made, and the arguments that it leaves open though the function needs them."""
        name = self._function(question, call)
        tool = self.tools[name]
        arguments = dict(self._arguments(question, tool, call.arguments))
        needed = tool.parameters.get("required")
        named = [each for each in (needed if isinstance(needed, list) else ()) if isinstance(each, str)]
        missing = tuple(each for each in named if each not in arguments)
        for each in missing:
            self.said.append(f"{question}: `{name}` needs `{each}`, of which any value is right")
        return Call(name, arguments), missing

    def _function(self, question: str, call: Call) -> str:
        name = call.name.strip()
        if name not in self.tools:
            numbered = [known for known in self.tools if known.rpartition("_")[0] == name and known[-1].isdigit()]
            near = numbered or get_close_matches(name, self.tools, 1, _SIMILARITY)
            if near and _fits(self.tools[near[0]], call.arguments):
                name = near[0]
            else:
                self.tools[name] = _described_tool(name, call.arguments)
                self.said.append(
                    f"{question}: the function `{name}` is offered; a right answer calls it, and the set has none"
                )
        if name != call.name:
            self.said.append(f"{question}: the function `{call.name}` is called `{name}`")
        return name

    def _arguments(self, question: str, tool: Tool, given: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
        properties = tool.parameters.get("properties")
        known = properties if isinstance(properties, Mapping) else {}
        free = [name for name in known if name not in given]
        for name, value in given.items():
            said = name
            if name not in known and free:
                said = (get_close_matches(name, free, 1, 0.8) or free)[0]
                free.remove(said)
                self.said.append(f"{question}: the argument `{name}` of `{tool.name}` is called `{said}`")
            schema = known.get(said)
            mended = _typed(value, schema.get("type") if isinstance(schema, Mapping) else None)
            if mended is not value:
                self.said.append(f"{question}: `{said}` of `{tool.name}` is {mended!r}, not {value!r}")
            yield said, mended


def _fits(tool: Tool, arguments: Mapping[str, Json]) -> bool:
    """Whether a function takes as many arguments, so that it can be the one that is meant."""
    properties = tool.parameters.get("properties")
    return isinstance(properties, Mapping) and len(properties) >= len(arguments)


def _described_tool(name: str, arguments: Mapping[str, Json]) -> Tool:
    """A function that nobody describes: what it is called, and what it takes."""
    properties: dict[str, Json] = {each: {"type": _type(value)} for each, value in arguments.items()}
    parameters: dict[str, Json] = {"type": "object", "properties": properties, "required": [*arguments]}
    return Tool(name, name.replace("_", " ").capitalize(), parameters)


def _type(value: Json) -> str:
    return next((name for kind, name in _TYPES if isinstance(value, kind)), "array")


def _typed(value: Json, wanted: Json) -> Json:
    """A number that is written as text, or the other way round."""
    if wanted == "number" and isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 16:
        return int(value)
    if wanted == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value
