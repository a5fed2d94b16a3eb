"""The scope in which a node is read: faults, placeholders, tools, extensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from yaml import Node

from pytest_fcall.cases.faults import Faults, one_of, quote
from pytest_fcall.cases.files import Reach
from pytest_fcall.cases.placeholders import Placeholders
from pytest_fcall.core.expectation import MatchRule, Profile
from pytest_fcall.core.message_text import clauses, did_you_mean
from pytest_fcall.core.request import Tool
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.tool_schema import ToolSchema, tool_schema

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Suite, ToolSource
    from pytest_fcall.core.variants import Relation


class Extensions(NamedTuple):
    """Extensions of other packages: tool sources, suites and relations by name; names of comparators, all decoders."""

    tool_sources: Mapping[str, ToolSource] = MappingProxyType({})
    comparators: frozenset[str] = frozenset()
    decoders: frozenset[str] = frozenset()
    suites: Mapping[str, Suite] = MappingProxyType({})
    relations: Mapping[str, Relation] = MappingProxyType({})
    tool_file: Callable[[Path], Path] | None = None
    """The file that tools are read from in place of a file with tools; None where they are read as they are."""


class Toolbox:
    """The tools of a file by name; their schemas are compiled on first use.

    A toolbox that is not complete misses tools that could not be read. An unknown tool name is then not a fault.
    """

    def __init__(
        self, tools: Iterable[Tool] = (), *, is_complete: bool = True, locked: Mapping[str, str] | None = None
    ) -> None:
        self.tools: Mapping[str, Tool] = {tool.name: tool for tool in tools}
        self.catalogue = tuple(self.tools.values())
        """All tools: the same tuple for every case that offers all of them."""
        self.names = frozenset(self.tools)
        self.is_complete = is_complete
        self._locked = locked or {}
        """The tools that are read from a lock file, with the file that names their source."""
        self._schemas: dict[str, ToolSchema | None] = {}

    def schema(self, name: str) -> ToolSchema | None:
        """The compiled parameters of a tool; None if there is no such tool or its schema cannot be used."""
        if name not in self._schemas:
            self._schemas[name] = self._compiled(name)
        return self._schemas[name]

    def lock_hint(self, name: str) -> str:
        """A hint to renew the lock file of a tool, or each that may lack an unknown one; empty where there is none."""
        if name in self.tools:
            files = {self._locked[name]} if name in self._locked else set()
        else:
            files = {*self._locked.values()}
        if not files:
            return ""
        return f"if its source has it, the lock file is old: fcall tools lock {' '.join(sorted(files))}"

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
    """The context of a node. Those of a case are completed while it is read: its tools, its rules, its named calls."""

    faults: Faults
    folder: Path
    """The folder that relative paths start from."""
    reach: Reach
    """The places that relative paths may lead to."""
    placeholders: Placeholders
    extensions: Extensions = field(default_factory=Extensions)
    toolbox: Toolbox = field(default_factory=Toolbox)
    """All tools of the file."""
    offered_tools: frozenset[str] = frozenset()
    """The names of the tools that the case offers."""
    match_rules: tuple[MatchRule, ...] = ()
    profile: Profile = "strict"
    known_calls: set[str] = field(default_factory=set)
    """The names of earlier calls, which `$from` may refer to."""


def check_tool_name(node: Node, name: str, scope: Scope) -> bool:
    """Whether the file has the tool. Adds a fault if it surely has not."""
    tools = scope.toolbox.tools
    if name in tools:
        return True
    if scope.toolbox.is_complete:
        meant = did_you_mean(name, tools)
        others = one_of(tools) if tools else "the file has no tools: give it `tools:`"
        hint = clauses("" if meant else others, scope.toolbox.lock_hint(name), meant)
        scope.faults.add("unknown-tool", node, f"there is no tool {quote(name)}", hint)
    return False


def check_library(node: Node, what: str, module: str, extra: str, faults: Faults) -> None:
    """Add a fault if the module that a value needs is not installed; `extra` is the extra that installs it."""
    if find_spec(module) is None:
        from pytest_fcall.core.commands import install_command

        message = f"{what} needs the library {module.replace('_', '-')}, which is not installed"
        faults.add("not-installed", node, message, install_command(extra))
