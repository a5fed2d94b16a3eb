"""An entry of `tools:`: a tool written out, or a source of tools."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import Faults, quote
from pytest_fcall.cases.files import Reach, display_path, find_file, read_data
from pytest_fcall.cases.node_values import Entries, node_at, one_or_many
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.cases.yaml.values import STR
from pytest_fcall.core.bounded_text import glob_matches, is_glob
from pytest_fcall.core.message_text import did_you_mean
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, path_text
from pytest_fcall.schema.errors import SchemaError

_BUILT_IN = ("python", "agent", "file", "openapi", "mcp")
_PREFIX = re.compile(r"[A-Za-z0-9_-]+")
_AGENT = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_PICKS = ("as", "only", "without")
_INLINE = ("name", "function", "toolSpec", "parameters", "input_schema", "inputSchema")
SERVER_KEYS = ("command", "url", "env", "cwd", "headers")


class SourcePaths(NamedTuple):
    """The paths that tool sources need: the file that names them, what they may name, and the case file, if any."""

    file: Path
    reach: Reach
    case_file: Path | None

    @property
    def folder(self) -> Path:
        """The folder that relative paths start from."""
        return self.file.parent

    @property
    def lock(self) -> Path:
        """The lock file: each file has its own, so that those that include it share one."""
        from pytest_fcall.schema.sources.lock_file import catalogue_lock_path, lock_path

        return lock_path(self.file) if self.file == self.case_file else catalogue_lock_path(self.file)


def tool_nodes(node: Node, faults: Faults) -> list[Node]:
    """The entries of `tools`."""
    hint = _source_hint(node) or "begin each source, and each tool, with `- `"
    return node_values.items(node, faults, "`tools`", hint)


def _source_hint(node: Node) -> str:
    """A hint for a string in the place of a source; empty where it is none."""
    if not (isinstance(node, ScalarNode) and node.tag == STR):
        return ""
    if re.fullmatch(r"[^\W\d][\w.]*:[^\W\d][\w.]*", node.value):
        return f"write `- python: {node.value}`"
    return f"write `- file: {node.value}`" if node.value.endswith((".json", ".yaml", ".yml")) else ""


def read_tool_entry(node: Node, faults: Faults, paths: SourcePaths, extensions: Extensions) -> list[Tool]:
    """The tools of one entry, as they are offered to the model."""
    if hint := _source_hint(node):
        node_values.wrong_type(node, faults, "an entry of `tools`", "a mapping", hint)
        return []
    before = len(faults)
    found = node_values.entries(node, faults, "an entry of `tools`")
    kind = source_kind(found, extensions)
    value = node if kind is None else found[kind][1]
    try:
        if kind is None:
            return _inline_tool(node, found, faults, extensions)
        allowed = (kind, *_PICKS, *(("operations",) if kind == "openapi" else ()))
        node_values.check_keys(found, allowed, faults, f"a `{kind}:` source")
        tools = _Source(faults, paths, extensions).read(kind, value, found)
        return _picked(tools, found, faults) if len(faults) == before else []
    except SchemaError as error:
        inside = f", at {path_text(error.path)}" if error.path and isinstance(value, ScalarNode) else ""
        faults.add("bad-tool", node_at(value, error.path), f"{error.message}{inside}", error.hint)
        return []


def source_kind(found: Entries, extensions: Extensions) -> str | None:
    """The key of the tool source; None if the entry is a tool itself."""
    return next((name for name in found if name in _BUILT_IN or name in extensions.tool_sources), None)


def is_locked(kind: str, node: Node) -> bool:
    """Whether the tools are read from the lock file."""
    return kind in ("agent", "mcp") or (kind == "openapi" and isinstance(node, ScalarNode) and "://" in node.value)


def is_locked_entry(node: Node) -> bool:
    """Whether an entry of `tools` is a source whose tools are read from the lock file."""
    return isinstance(node, MappingNode) and any(is_locked(key.value, value) for key, value in node.value)


def lock_key(kind: str, node: Node, found: Entries, faults: Faults) -> dict[str, Json]:
    """The key of the source in the lock file: all of the entry but what is applied after reading."""
    key: dict[str, Json] = {kind: node_values.value(node, faults)}
    if "operations" in found:
        key["operations"] = node_values.value(found["operations"][1], faults)
    return key


def _inline_tool(node: Node, found: Entries, faults: Faults, extensions: Extensions) -> list[Tool]:
    from pytest_fcall.schema.sources.tool_data import tool_from_data

    if found and not any(name in found for name in _INLINE):
        key = next(iter(found.values()))[0]
        kinds = (*_BUILT_IN, *extensions.tool_sources)
        hint = did_you_mean(key.value, kinds) or f"a tool has a `name`; sources are {', '.join(kinds)}"
        faults.add("unknown-key", key, f"unknown tool source {quote(key.value)}", hint)
        return []
    before = len(faults)
    data = node_values.value(node, faults)
    return [tool_from_data(data)] if isinstance(node, MappingNode) and len(faults) == before else []


class _Source:
    """Reads the tools of a source; each kind has a method."""

    def __init__(self, faults: Faults, paths: SourcePaths, extensions: Extensions) -> None:
        self.faults = faults
        self.paths = paths
        self.extensions = extensions

    def read(self, kind: str, node: Node, found: Entries) -> Sequence[Tool]:
        """The tools of a source of a kind; `node` is its value."""
        if is_locked(kind, node):
            return self._locked_tools(kind, node, found)
        if kind in self.extensions.tool_sources:
            return self._plugin_tools(kind, node)
        if kind == "python":
            return self._python_tools(node)
        return self._file_tools(node) if kind == "file" else self._openapi_tools(node, found)

    def _python_tools(self, node: Node) -> list[Tool]:
        root = str(self.paths.reach.root)
        if root not in sys.path:
            sys.path.insert(0, root)
        specs = node.value if isinstance(node, SequenceNode) else [node]
        return [tool for spec in specs for tool in self._imported_tools(spec)]

    def _file_tools(self, node: Node) -> list[Tool]:
        from pytest_fcall.schema.sources.tool_data import tools_from_data

        data = self._data(node)
        return [] if data is None else tools_from_data(data, source=node.value)

    def _openapi_tools(self, node: Node, found: Entries) -> list[Tool]:
        from pytest_fcall.schema.sources.openapi import tools_from_openapi

        operations = found.read("operations", node_values.texts, self.faults, "`operations`")
        data = self._data(node)
        return [] if data is None else tools_from_openapi(data, operations)

    def _imported_tools(self, node: Node) -> list[Tool]:
        from pytest_fcall.schema.sources.python_tools import tools_from_python

        spec = node_values.word(node, self.faults, "`python`")
        if not spec:
            return []
        try:
            return tools_from_python(spec)
        except SchemaError:
            raise
        except (Exception, SystemExit) as error:  # the user's code may raise anything
            self.faults.add("bad-tool", node, f"{quote(spec)} cannot be imported: {type(error).__name__}: {error}")
            return []

    def _locked_tools(self, kind: str, node: Node, found: Entries) -> Sequence[Tool]:
        from pytest_fcall.schema.sources.lock_file import read_lock

        before = len(self.faults)
        key = lock_key(kind, node, found, self.faults)
        if kind == "mcp":
            self._check_server(node)
        if kind == "agent":
            self._check_agent(node)
        if len(self.faults) > before:
            return []
        path, other = self.paths.lock, self.extensions.tool_file
        hint = f"run: fcall tools lock {display_path(self.paths.file, self.paths.reach.root)}"
        try:
            tools = read_lock(other(path) if other else path).tools(key)
        except SchemaError as damaged:
            raise SchemaError(damaged.message, hint=hint) from None
        if tools is None:
            self.faults.add("not-locked", node, f"this source is not in the lock file {quote(path.name)}", hint)
            return []
        if kind != "mcp":
            return tools
        origin: dict[str, Json] = {"mcp": key["mcp"], "folder": str(self.paths.folder)}
        return [replace(tool, origin=origin) for tool in tools]

    def _check_server(self, node: Node) -> None:
        found = node_values.entries(node, self.faults, "`mcp`", SERVER_KEYS)
        if isinstance(node, MappingNode) and ("command" in found) == ("url" in found):
            hint = "such as {command: [my-server]}"
            self.faults.add("missing-key", node, "a server needs either a `command` or a `url`", hint)
        command = found.node("command")
        for word in command.value if isinstance(command, SequenceNode) else ():
            if isinstance(word, MappingNode):
                self.faults.add("wrong-type", word, "a word of `command` is a mapping", 'in quotes: "{python}"')

    def _check_agent(self, node: Node) -> None:
        name = node_values.word(node, self.faults, "`agent`")
        if name and not _AGENT.fullmatch(name):
            message = f"`agent` names an object as module:name, not {name!r}"
            self.faults.add("wrong-value", node, message, "such as shop.agent:agent")

    def _plugin_tools(self, kind: str, node: Node) -> Sequence[Tool]:
        spec = node_values.value(node, self.faults)
        try:
            return list(self.extensions.tool_sources[kind](spec, self.paths.folder))
        except Exception as error:  # the code of another package
            self.faults.add("bad-tool", node, f"the source `{kind}` cannot be read: {error}")
            return []

    def _data(self, node: Node) -> Json:
        path = find_file(node, self.paths.folder, self.paths.reach, self.faults, self.extensions.tool_file)
        return None if path is None else read_data(path, node, self.faults)


def _picked(tools: Sequence[Tool], found: Entries, faults: Faults) -> list[Tool]:
    """The tools that `only` and `without` leave, with the prefix of `as`."""
    picked = pick_tools(tools, found, faults)
    if "as" not in found:
        return picked
    prefix = node_values.word(found["as"][1], faults, "`as`")
    if prefix and not _PREFIX.fullmatch(prefix):
        hint = "letters, digits, underscores and dashes only"
        faults.add("wrong-value", found["as"][1], f"{quote(prefix)} is not a valid prefix of tool names", hint)
    return [
        replace(tool, name=f"{prefix}__{tool.name}", origin={"name": tool.name, **(tool.origin or {})})
        for tool in picked
    ]


def pick_tools(tools: Sequence[Tool], found: Entries, faults: Faults) -> list[Tool]:
    """The tools that `only` and `without` leave. A name or glob that matches no tool is a fault."""
    names = [tool.name for tool in tools]
    picked = list(tools)
    for key in ("only", "without"):
        if key not in found:
            continue
        globs = one_or_many(found[key][1], faults, f"each of `{key}`")
        for glob, node in globs:
            if glob and not any(glob_matches(glob, name) for name in names):
                message = f"no tool matches {quote(glob)}" if is_glob(glob) else f"there is no tool {quote(glob)}"
                faults.add("unknown-tool", node, message, did_you_mean(glob, names))
        picked = [tool for tool in picked if any(glob_matches(glob, tool.name) for glob, _ in globs) == (key == "only")]
    return picked
