"""A new name of a tool or of one of its parameters, for everything that was written under the old one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_fcall.core import Json


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
