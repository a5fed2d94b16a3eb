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
"""The similarity above which one name of a function is a misspelling of the other: a letter or two of many differ."""
_TYPES: Final = ((bool, "boolean"), (int | float, "number"), (str, "string"))


@dataclass(slots=True)
class Repairs:
    """Repairs the right calls of one part, and logs the repairs."""

    tools: dict[str, Tool]
    """The offered functions, and those that right calls need but the set does not offer."""
    log: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, offered: Sequence[Tool]) -> Repairs:
        """Start with the functions of a part. Of two functions with one name, the first is offered."""
        tools: dict[str, Tool] = {}
        repairs = cls(tools)
        for tool in offered:
            name = tool.name.strip()
            if name in tools:
                repairs.log.append(f"the function `{name}` is offered once, not twice")
            tools.setdefault(name, replace(tool, name=name))
        return repairs

    def repaired(self, question: str, call: Call) -> tuple[Call, tuple[str, ...]]:
        """Return the repaired call, and the required arguments for which any value is right."""
        name = self._function(question, call)
        tool = self.tools[name]
        arguments = dict(self._arguments(question, tool, call.arguments))
        needed = tool.parameters.get("required")
        named = [each for each in (needed if isinstance(needed, list) else ()) if isinstance(each, str)]
        missing = tuple(each for each in named if each not in arguments)
        for each in missing:
            self.log.append(f"{question}: `{name}` needs `{each}`, for which any value is right")
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
                self.log.append(
                    f"{question}: the function `{name}` is offered; a right answer calls it, but the set lacks it"
                )
        if name != call.name:
            self.log.append(f"{question}: the function `{call.name}` is called `{name}`")
        return name

    def _arguments(self, question: str, tool: Tool, given: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
        properties = tool.parameters.get("properties")
        known = properties if isinstance(properties, Mapping) else {}
        free = [name for name in known if name not in given]
        for name, value in given.items():
            parameter = name
            if name not in known and free:
                parameter = (get_close_matches(name, free, 1, 0.8) or free)[0]
                free.remove(parameter)
                self.log.append(f"{question}: the argument `{name}` of `{tool.name}` is called `{parameter}`")
            schema = known.get(parameter)
            typed = _typed(value, schema.get("type") if isinstance(schema, Mapping) else None)
            if typed is not value:
                self.log.append(f"{question}: `{parameter}` of `{tool.name}` is {typed!r}, not {value!r}")
            yield parameter, typed


def _fits(tool: Tool, arguments: Mapping[str, Json]) -> bool:
    """Whether a function has enough parameters to be the misspelled one."""
    properties = tool.parameters.get("properties")
    return isinstance(properties, Mapping) and len(properties) >= len(arguments)


def _described_tool(name: str, arguments: Mapping[str, Json]) -> Tool:
    """A tool for a function without a description, made from its name and arguments."""
    properties: dict[str, Json] = {each: {"type": _type(value)} for each, value in arguments.items()}
    parameters: dict[str, Json] = {"type": "object", "properties": properties, "required": [*arguments]}
    return Tool(name, name.replace("_", " ").capitalize(), parameters)


def _type(value: Json) -> str:
    return next((name for kind, name in _TYPES if isinstance(value, kind)), "array")


def _typed(value: Json, wanted: Json) -> Json:
    """The value with its type repaired: a number written as text, or text written as a number."""
    if wanted == "number" and isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 16:
        return int(value)
    if wanted == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value
