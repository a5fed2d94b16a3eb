"""The tools that a case may speak of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pytest_fcall.core import Json, Tool
from pytest_fcall.schema import Finding, SchemaError, ToolSchema, tool_schema


class Toolbox:
    """Tools by name, with their schemas compiled on first use.

    A box that is not `complete` lacks tools that a person meant to put in, or knows none because nobody said:
    what it does not know is then no mistake.
    """

    def __init__(self, tools: Iterable[Tool] = (), *, complete: bool = True) -> None:
        self.tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self.catalogue = tuple(self.tools.values())
        """All of them, one tuple for all cases that offer all."""
        self.complete = complete
        self._schemas: dict[str, ToolSchema | None] = {}
        self._checked: dict[tuple[object, ...], list[Finding]] = {}

    def schema(self, name: str) -> ToolSchema | None:
        """The compiled parameters of a tool; None where there is no such tool or its schema cannot be used."""
        if name not in self._schemas:
            self._schemas[name] = self._compiled(name)
        return self._schemas[name]

    def check(self, name: str, path: Sequence[str | int], value: Json) -> list[Finding]:
        """What the schema has against a plain value at that place of a call's arguments."""
        schema = self.schema(name)
        if schema is None:
            return []
        if isinstance(value, list | dict):
            return schema.check_at(path, value)
        key = (name, *path, type(value), value)
        if key not in self._checked:
            self._checked[key] = schema.check_at(path, value)
        return self._checked[key]

    def _compiled(self, name: str) -> ToolSchema | None:
        tool = self.tools.get(name)
        if tool is None:
            return None
        try:
            return tool_schema(tool)
        except SchemaError:
            return None
