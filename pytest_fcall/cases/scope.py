"""The scope in which a node is read: extensions, tools, placeholders, and the list of faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_fcall.cases.faults import Faults
from pytest_fcall.cases.placeholders import Placeholders
from pytest_fcall.core import Json, MatchRule, Profile, Tool
from pytest_fcall.core.extension import Suite, ToolSource
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.findings import Finding
from pytest_fcall.schema.tool_schema import ToolSchema, tool_schema


@dataclass(frozen=True, slots=True)
class Extensions:
    """Tool sources and suites by name, and names alone: of operators that others add, and of all decoders."""

    tool_sources: Mapping[str, ToolSource] = field(default_factory=dict)
    comparators: frozenset[str] = frozenset()
    decoders: frozenset[str] = frozenset()
    suites: Mapping[str, Suite] = field(default_factory=dict)


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


@dataclass(slots=True)
class Scope:
    """Where faults go, and what may be spoken of."""

    faults: Faults
    folder: Path
    filling: Placeholders
    extensions: Extensions = field(default_factory=Extensions)
    toolbox: Toolbox = field(default_factory=Toolbox)
    """All tools of the file."""
    offered: frozenset[str] = frozenset()
    """The names of those that the case offers."""
    match: tuple[MatchRule, ...] = ()
    profile: Profile = "strict"
    names: set[str] = field(default_factory=set)
    """The calls made so far that `$from` may speak of."""
