"""The preamble of a case file, all that stands above its cases, and the tool sources of its lock file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from yaml import Node, ScalarNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.case import FileContext
from pytest_fcall.cases.defaults import Defaults, Layer
from pytest_fcall.cases.faults import Faults, SourceFile, UnreadableFile, quote
from pytest_fcall.cases.files import Reach, anywhere, display_path, find_file
from pytest_fcall.cases.node_values import Entries, node_at, one_or_many
from pytest_fcall.cases.option_values import DEFAULT_KEYS
from pytest_fcall.cases.rules import match_rules
from pytest_fcall.cases.scope import Extensions, Toolbox
from pytest_fcall.cases.tool_entries import (
    SourcePaths,
    is_locked,
    is_locked_entry,
    lock_key,
    read_tool_entry,
    source_kind,
    tool_nodes,
)
from pytest_fcall.cases.yaml.reader import read_text, read_yaml
from pytest_fcall.core.bounded_text import VolatileError, compiled_pattern
from pytest_fcall.core.case import Fault
from pytest_fcall.core.expectation import MatchRule
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.tool_schema import tool_schema

PREAMBLE_KEYS = ("include", "tools", "defaults", "match", "volatile")


class FilePart(NamedTuple):
    """The case file or a file that it includes: its top-level entries, its path, its text."""

    source: SourceFile
    path: Path
    entries: Entries


@dataclass(slots=True)
class Preamble:
    """The part of a file that all its cases share, and its faults."""

    context: FileContext
    included: tuple[Path, ...]
    volatile: tuple[str, ...]
    """Patterns of what is no part of the keys of requests."""
    faults: list[Fault]
    """The faults that concern every case."""
    tool_faults: list[Fault]
    """The faults that concern the cases that may need a tool that could not be read."""
    default_faults: list[Fault]
    """The faults that concern the cases that use a default."""

    def unreported_faults(self, reported: AbstractSet[Fault]) -> dict[str, tuple[Fault, ...]]:
        """The faults that no case reported, by the part of the file that has them."""
        parts = {"tools": self.tool_faults, "file": self.faults, "defaults": self.default_faults}
        left = {
            name: tuple(dict.fromkeys(fault for fault in part if fault not in reported)) for name, part in parts.items()
        }
        return {name: part for name, part in left.items() if part}


def read_preamble(part: FilePart, reach: Reach, extensions: Extensions, now: datetime) -> Preamble:
    """Read the preamble of a case file and of the files that it includes."""
    parts, faults = _file_parts(part, reach)
    tools, locked, tool_faults = _tools(parts, reach, extensions)
    toolbox = Toolbox(tools, is_complete=not tool_faults and not faults, locked=locked)
    defaults, default_faults = _defaults(parts)
    context = FileContext(part.source, part.path.parent, reach, toolbox, defaults, (), extensions, now)
    rules, rule_faults = _match_rules(parts, context)
    volatile, volatile_faults = _volatile(parts)
    scope = context.scope(Faults(part.source))
    defaults.check(scope)
    return Preamble(
        context=context._replace(match_rules=rules),
        included=tuple(other.path for other in parts[1:]),
        volatile=volatile,
        faults=[*faults, *default_faults, *rule_faults, *volatile_faults],
        tool_faults=tool_faults,
        default_faults=scope.faults,
    )


def _file_parts(part: FilePart, reach: Reach) -> tuple[list[FilePart], list[Fault]]:
    """The case file and the files that it includes, nearest first, each once; and the faults of the includes."""
    parts: list[FilePart] = []
    found: list[Fault] = []

    def add(part: FilePart, chain: tuple[Path, ...]) -> None:
        parts.append(part)
        if "include" not in part.entries:
            return
        faults = Faults(part.source)
        chain = (*chain, Path(os.path.realpath(part.path)))
        for _, node in one_or_many(part.entries["include"][1], faults, "`include`"):
            path = find_file(node, part.path.parent, reach, faults)
            if path in chain:
                faults.add("bad-file", node, f"{quote(node.value)} includes itself", "leave this `include` out")
            elif path and all(path != other.path for other in parts):
                include(path, chain)
        found.extend(faults)

    def include(path: Path, chain: tuple[Path, ...]) -> None:
        try:
            source = read_text(path, display_path(path, reach.root))
            node = read_yaml(source)
        except UnreadableFile as error:
            found.append(error.fault)
            return
        if node is not None:
            faults = Faults(source)
            entries = node_values.entries(node, faults, "an included file", PREAMBLE_KEYS)
            found.extend(faults)
            add(FilePart(source, path, entries), chain)

    add(part, ())
    return parts, found


def _defaults(parts: Sequence[FilePart]) -> tuple[Defaults, list[Fault]]:
    """The defaults of all parts, and the faults of their keys."""
    layers = []
    found: list[Fault] = []
    for part in parts:
        if "defaults" in part.entries:
            faults = Faults(part.source)
            entries = node_values.entries(part.entries["defaults"][1], faults, "`defaults`", DEFAULT_KEYS)
            layers.append(Layer(part.source, part.path.parent, entries))
            found += faults
    return Defaults(layers), found


def _tools(
    parts: Sequence[FilePart], reach: Reach, extensions: Extensions
) -> tuple[list[Tool], dict[str, str], list[Fault]]:
    """The tools of all parts, in the order of the request; those of lock files with their files; and the faults."""
    tools: dict[str, tuple[Tool, str]] = {}
    locked: dict[str, str] = {}
    found: list[Fault] = []
    for part in parts:
        if "tools" not in part.entries:
            continue
        place = SourcePaths(part.path, reach, parts[0].path)
        source, entries, faults = _tool_text(part, extensions.tool_file)
        for node in tool_nodes(entries["tools"][1], faults) if "tools" in entries else ():
            is_from_lock = is_locked_entry(node)
            for tool in read_tool_entry(node, faults, place, extensions):
                where = f"{source.path}:{source.location(node).line}"
                if tool.name in tools:
                    hint = "put `as:` beside a source, or leave one out with `without:`"
                    message = f"two tools are named {quote(tool.name)}: the first is at {tools[tool.name][1]}"
                    faults.add("duplicate-tool", _name_node(node, tool), message, hint)
                elif _is_usable(tool, node, faults):
                    tools[tool.name] = (tool, where)
                    locked |= {tool.name: part.source.path} if is_from_lock else {}
        found += faults
    return [tool for tool, _ in tools.values()], locked, found


def _tool_text(part: FilePart, tool_file: Callable[[Path], Path] | None) -> tuple[SourceFile, Entries, Faults]:
    """The text that has the tools of a file, its entries, and its faults: that of the other file for it, if any."""
    own = Path(os.path.realpath(part.path)) if tool_file else part.path
    path = tool_file(own) if tool_file else own
    if path == own:
        return part.source, part.entries, Faults(part.source)
    try:
        source = read_text(path, part.source.path)
    except UnreadableFile as error:
        faults = Faults(part.source)
        message = f"the other version of {quote(part.path.name)}: {error.fault.message}"
        faults.add("bad-file", part.entries["tools"][1], message)
        return part.source, Entries(), faults
    faults = Faults(source)
    try:
        root = read_yaml(source)
    except UnreadableFile as error:
        faults.append(error.fault)
        return source, Entries(), faults
    return source, Entries() if root is None else node_values.entries(root, faults, "a file of tools"), faults


def _match_rules(parts: Sequence[FilePart], context: FileContext) -> tuple[tuple[MatchRule, ...], list[Fault]]:
    """The match rules of all parts, nearest first, and their faults."""
    rules: tuple[MatchRule, ...] = ()
    found: list[Fault] = []
    for part in parts:
        if "match" in part.entries:
            scope = context.scope(Faults(part.source))
            rules += match_rules(part.entries["match"][1], scope)
            found += scope.faults
    return rules, found


def _volatile(parts: Sequence[FilePart]) -> tuple[tuple[str, ...], list[Fault]]:
    """The patterns of all parts, each once, of what is no part of the keys of requests, and their faults."""
    patterns: dict[str, None] = {}
    found: list[Fault] = []
    for part in parts:
        if "volatile" not in part.entries:
            continue
        faults = Faults(part.source)
        node = part.entries["volatile"][1]
        for item in [node] if isinstance(node, ScalarNode) else node_values.items(node, faults, "`volatile`"):
            pattern = _volatile_pattern(item, faults)
            if pattern is not None:
                patterns[pattern] = None
        found += faults
    return tuple(patterns), found


def _volatile_pattern(node: Node, faults: Faults) -> str | None:
    before = len(faults)
    pattern = node_values.text(node, faults, "a pattern of `volatile`")
    if len(faults) > before:
        return None
    try:
        compiled_pattern(pattern)
    except VolatileError as error:
        faults.add("wrong-value", node, f"`volatile`: {error}")
        return None
    return pattern


def _is_usable(tool: Tool, node: Node, faults: Faults) -> bool:
    try:
        tool_schema(tool)
    except SchemaError as error:
        message = f"the schema of {quote(tool.name)} cannot be used: {error.message}"
        faults.add("bad-tool", node_at(node, ("parameters", *error.path)), message, error.hint)
        return False
    return True


def _name_node(node: Node, tool: Tool) -> Node:
    """The node of the tool's name; the whole entry if it is a source of tools."""
    named = node_at(node, ("name",))
    return named if getattr(named, "value", None) == tool.name else node


class LockedSource(NamedTuple):
    """A tool source that is read from a lock file: the file that names it, its lock file, and its key there."""

    file: Path
    lock: Path
    key: dict[str, Json]


def tool_sources(path: Path, *, root: Path) -> list[LockedSource]:
    """The tool sources of a case file and its includes that are read from lock files.

    A file without cases has none. Faulty entries are left out; reading the cases reports them. Raises UnreadableFile
    if nothing can be read.
    """
    part = _read_part(path, root)
    return _locked_sources(part, root, path) if "cases" in part.entries else []


def catalogue_sources(path: Path, *, root: Path) -> list[LockedSource]:
    """The same of a file that case files include, whether or not one does. Raises UnreadableFile."""
    return _locked_sources(_read_part(path, root), root, None)


def _read_part(path: Path, root: Path) -> FilePart:
    source = read_text(path, display_path(path, root))
    node = read_yaml(source)
    entries = node_values.Entries() if node is None else node_values.entries(node, Faults(source), "a case file")
    return FilePart(source, path, entries)


def _locked_sources(part: FilePart, root: Path, case_file: Path | None) -> list[LockedSource]:
    reach = Reach.of(part.path, root, anywhere(part.path))  # no model is asked
    parts, _ = _file_parts(part, reach)
    return [
        LockedSource(each.path, SourcePaths(each.path, reach, case_file).lock, key)
        for each in parts
        for key in _lock_keys(each)
    ]


def _lock_keys(part: FilePart) -> Iterator[dict[str, Json]]:
    if "tools" not in part.entries:
        return
    for node in tool_nodes(part.entries["tools"][1], Faults(part.source)):
        faults = Faults(part.source)
        found = node_values.entries(node, faults, "an entry of `tools`")
        kind = source_kind(found, Extensions())
        if kind is None or not is_locked(kind, found[kind][1]):
            continue
        key = lock_key(kind, found[kind][1], found, faults)
        if not faults:
            yield key
