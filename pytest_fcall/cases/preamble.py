"""The preamble of a case file (`include`, `tools`, `defaults`, `match`), and the tool sources to lock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from yaml import Node

from pytest_fcall.cases import node_values
from pytest_fcall.cases.case import FileContext, read_defaults
from pytest_fcall.cases.faults import Faults, SourceFile, UnreadableFile, shown
from pytest_fcall.cases.files import find_file
from pytest_fcall.cases.node_values import Entries, node_at, one_or_many
from pytest_fcall.cases.options import DEFAULT_KEYS, Defaults, Layer
from pytest_fcall.cases.rules import match_rules
from pytest_fcall.cases.scope import Extensions, Toolbox
from pytest_fcall.cases.tool_entries import SourcePaths, is_locked, lock_key, read_tool_entry, source_kind
from pytest_fcall.cases.yaml.reader import read_text, read_yaml
from pytest_fcall.core import Fault, Json, MatchRule, Tool
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.tool_schema import tool_schema

PREAMBLE_KEYS = ("include", "tools", "defaults", "match")


@dataclass(frozen=True, slots=True)
class FilePart:
    """One file's share: its top-level entries, and where its faults and paths belong."""

    source: SourceFile
    path: Path
    entries: Entries


@dataclass(slots=True)
class FileParts:
    """The case file itself and what it includes, nearest first, each once."""

    root: Path
    found: list[FilePart] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def add(self, part: FilePart, chain: tuple[Path, ...] = ()) -> None:
        """Take in a file and whatever it includes."""
        self.found.append(part)
        if "include" not in part.entries:
            return
        faults = Faults(part.source)
        chain = (*chain, part.path.resolve())
        for _, node in one_or_many(part.entries["include"][1], faults, "`include`"):
            path = find_file(node, part.path.parent, faults)
            if path in chain:
                faults.add("bad-file", node, f"{shown(node.value)} includes itself", "leave this `include` out")
            elif path and all(path != other.path for other in self.found):
                self._include(path, chain)
        self.faults += faults.found

    def _include(self, path: Path, chain: tuple[Path, ...]) -> None:
        try:
            source = read_text(path, display_path(path, self.root))
            root = read_yaml(source)
        except UnreadableFile as error:
            self.faults.append(error.fault)
            return
        if root is None:
            return
        faults = Faults(source)
        entries = node_values.entries(root, faults, "an included file")
        node_values.known_only(entries, PREAMBLE_KEYS, faults, "an included file")
        self.faults += faults.found
        self.add(FilePart(source, path, entries), chain)


@dataclass(slots=True)
class Preamble:
    """What all cases of a file stand on, and what is wrong with it."""

    ground: FileContext
    included: tuple[Path, ...]
    faults: list[Fault]
    """Those that touch every case."""
    tool_faults: list[Fault]
    """Those that touch the cases which may need a tool that could not be read."""
    default_faults: list[Fault]
    """Those that touch the cases which use the default in question."""

    def untold(self, told: AbstractSet[Fault]) -> dict[str, tuple[Fault, ...]]:
        """The faults that touched no case, by the part of the file that has them."""
        parts = {"tools": self.tool_faults, "file": self.faults, "defaults": self.default_faults}
        found = {name: tuple(dict.fromkeys(one for one in part if one not in told)) for name, part in parts.items()}
        return {name: part for name, part in found.items() if part}


def read_preamble(part: FilePart, root: Path, extensions: Extensions, now: datetime) -> Preamble:
    """Read what stands beside the cases of a file, includes followed."""
    parts = FileParts(root)
    parts.add(part)
    tools, tool_faults = _tools(parts.found, root, extensions)
    defaults, faults = _defaults(parts.found)
    toolbox = Toolbox(tools, complete=not tool_faults and not parts.faults)
    ground = FileContext(part.source, part.path.parent, toolbox, defaults, (), extensions, now)
    rules, rule_faults = _match(parts.found, ground)
    scope = ground.scope(Faults(part.source))
    read_defaults(defaults, scope)
    return Preamble(
        ground=replace(ground, match=rules),
        included=tuple(other.path for other in parts.found[1:]),
        faults=[*parts.faults, *faults, *rule_faults],
        tool_faults=tool_faults,
        default_faults=scope.faults.found,
    )


def display_path(path: Path, root: Path) -> str:
    """A file's name for people: seen from the root folder where it lies below."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _defaults(parts: Sequence[FilePart]) -> tuple[Defaults, list[Fault]]:
    """The defaults of all parts, and what is wrong with them as a whole."""
    layers = []
    found: list[Fault] = []
    for part in parts:
        if "defaults" in part.entries:
            faults = Faults(part.source)
            entries = node_values.entries(part.entries["defaults"][1], faults, "`defaults`")
            node_values.known_only(entries, DEFAULT_KEYS, faults, "`defaults`")
            layers.append(Layer(part.source, part.path.parent, entries))
            found += faults.found
    return Defaults(layers), found


def _tools(parts: Sequence[FilePart], root: Path, extensions: Extensions) -> tuple[list[Tool], list[Fault]]:
    """The tools of all parts in the order in which the model is told of them, and what is wrong with them."""
    tools: dict[str, tuple[Tool, str]] = {}
    found: list[Fault] = []
    for part in parts:
        if "tools" not in part.entries:
            continue
        faults = Faults(part.source)
        place = SourcePaths(part.path.parent, root, parts[0].path)
        for node in node_values.items(part.entries["tools"][1], faults, "`tools`"):
            for tool in read_tool_entry(node, faults, place, extensions):
                where = f"{part.source.path}:{part.source.location(node).line}"
                if tool.name in tools:
                    hint = "put `as:` beside a source, or leave one out with `without:`"
                    message = f"two tools are named {shown(tool.name)}: the first is at {tools[tool.name][1]}"
                    faults.add("duplicate-tool", _named(node, tool), message, hint)
                elif _usable(tool, node, faults):
                    tools[tool.name] = (tool, where)
        found += faults.found
    return [tool for tool, _ in tools.values()], found


def _match(parts: Sequence[FilePart], ground: FileContext) -> tuple[tuple[MatchRule, ...], list[Fault]]:
    """The rules of all parts, the nearest first, and what is wrong with them."""
    rules: tuple[MatchRule, ...] = ()
    found: list[Fault] = []
    for part in parts:
        if "match" in part.entries:
            scope = ground.scope(Faults(part.source))
            rules += match_rules(part.entries["match"][1], scope)
            found += scope.faults.found
    return rules, found


def _usable(tool: Tool, node: Node, faults: Faults) -> bool:
    try:
        tool_schema(tool)
    except SchemaError as error:
        message = f"the schema of {shown(tool.name)} cannot be used: {error.message}"
        faults.add("bad-tool", node_at(node, ("parameters", *error.path)), message, error.hint)
        return False
    return True


def _named(node: Node, tool: Tool) -> Node:
    """Where an entry says the tool's name; the entry itself where it is a source."""
    named = node_at(node, ("name",))
    return named if getattr(named, "value", None) == tool.name else node


def tool_sources(path: Path, *, root: Path) -> list[dict[str, Json]]:
    """The MCP servers and addresses that a case file and what it includes name, as a lock file is asked for them.

    A file without cases names none. Entries with a mistake are left out: reading the cases tells of them. Raises
    UnreadableFile where nothing can be read.
    """
    source = read_text(path, display_path(path, root))
    node = read_yaml(source)
    entries = {} if node is None else node_values.entries(node, Faults(source), "a case file")
    if "cases" not in entries:
        return []
    parts = FileParts(root)
    parts.add(FilePart(source, path, entries))
    return [key for part in parts.found for key in _locked(part)]


def _locked(part: FilePart) -> Iterator[dict[str, Json]]:
    if "tools" not in part.entries:
        return
    for node in node_values.items(part.entries["tools"][1], Faults(part.source), "`tools`"):
        faults = Faults(part.source)
        found = node_values.entries(node, faults, "an entry of `tools`")
        kind = source_kind(found, Extensions())
        if kind is None or not is_locked(kind, found[kind][1]):
            continue
        key = lock_key(kind, found[kind][1], found, faults)
        if not faults.found:
            yield key
