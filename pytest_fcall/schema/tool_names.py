"""Other names of tools and parameters: made of the same words, and put in the place of old ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pytest_fcall.core.values import Json

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")


def words_of(name: str) -> list[str]:
    """The words of a name: `getWeather` has two."""
    return _WORD.findall(name) or [name]


def other_names(names: Sequence[str], lead: str = "do", taken: Iterable[str] = ()) -> dict[str, str]:
    """Another name for each: `get_weather` becomes `weather_get`. `lead` comes before a name of a single word.

    None of the new names is one of the old ones, or of those that are `taken`.
    """
    used, found = {*names, *taken}, dict[str, str]()
    for name in names:
        first, *others = words_of(name)
        words = [*others, first] if others else [lead, first]
        new = "_".join(words).lower()
        while new in used:
            new = f"{new}_again"
        used.add(new)
        found[name] = new
    return found


def with_other_names(text: str, names: Mapping[str, str]) -> str:
    """The text with new names. A name of a single word may be just a word, and stays."""
    for name, new in names.items():
        if len(words_of(name)) > 1:
            text = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w|\.\w)", new, text)
    return text


@dataclass(frozen=True, slots=True)
class ToolRename:
    """A tool that has another name, or whose parameter has: with `parameter`, both names are those of parameters."""

    old: str
    new: str
    parameter_of: str = ""
    """The tool whose parameter is renamed; empty where the tool itself is."""

    def name(self, tool: str) -> str:
        """The name of a tool."""
        return self.new if not self.parameter_of and tool == self.old else tool

    def arguments(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call, or the properties of a schema, in their order."""
        if tool != self.parameter_of:
            return dict(arguments)
        return {self.new if key == self.old else key: value for key, value in arguments.items()}

    def parameters(self, tool: str, schema: Mapping[str, Json]) -> Mapping[str, Json]:
        """The parameters of a tool."""
        if tool != self.parameter_of:
            return schema
        renamed = dict(schema)
        if isinstance(properties := schema.get("properties"), Mapping):
            renamed["properties"] = self.arguments(tool, properties)
        if isinstance(required := schema.get("required"), list):
            renamed["required"] = [self.new if name == self.old else name for name in required]
        return renamed
