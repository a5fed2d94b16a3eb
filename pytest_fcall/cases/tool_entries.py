"""One entry of `tools:`: a tool written out, or a source of tools."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from pytest_fcall.cases import node_values
from pytest_fcall.cases.faults import Faults, did_you_mean, shown
from pytest_fcall.cases.files import find_file, read_data
from pytest_fcall.cases.node_values import Entries, node_at, one_or_many
from pytest_fcall.cases.scope import Extensions
from pytest_fcall.core import Json, Tool
from pytest_fcall.core.glob import glob_matches, is_glob
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.lock_file import lock_path, read_lock
from pytest_fcall.schema.sources.tool_data import tool_from_data, tools_from_data

_BUILT_IN = ("python", "file", "openapi", "mcp")
_PREFIX = re.compile(r"[A-Za-z0-9_-]+")
_PICKS = ("as", "only", "without")
_INLINE = ("name", "function", "parameters", "input_schema", "inputSchema")


@dataclass(frozen=True, slots=True)
class SourcePaths:
    """Where tools are looked for: beside the file that names them, in the root folder, in the case file's lock."""

    folder: Path
    root: Path
    case_file: Path


def read_tool_entry(node: Node, faults: Faults, place: SourcePaths, extensions: Extensions) -> list[Tool]:
    """The tools of one entry, as the model is to see them."""
    before = len(faults.found)
    found = node_values.entries(node, faults, "an entry of `tools`")
    kind = source_kind(found, extensions)
    value = node if kind is None else found[kind][1]
    try:
        if kind is None:
            return _inline(node, found, faults, extensions)
        allowed = (kind, *_PICKS, *(("operations",) if kind == "openapi" else ()))
        node_values.known_only(found, allowed, faults, f"a `{kind}:` source")
        tools = _Source(faults, place, extensions).read(kind, value, found)
        return _picked(tools, found, faults) if len(faults.found) == before else []
    except SchemaError as error:
        inside = f", at {_dotted(error.path)}" if error.path and isinstance(value, ScalarNode) else ""
        faults.add("bad-tool", node_at(value, error.path), f"{error.message}{inside}", error.hint)
        return []


def source_kind(found: Entries, extensions: Extensions) -> str | None:
    """The key that says where the tools come from; None where the entry is a tool itself."""
    return next((name for name in found if name in _BUILT_IN or name in extensions.tool_sources), None)


def is_locked(kind: str, node: Node) -> bool:
    """Whether the tools are read from the lock file."""
    return kind == "mcp" or (kind == "openapi" and isinstance(node, ScalarNode) and "://" in node.value)


def lock_key(kind: str, node: Node, found: Entries, faults: Faults) -> dict[str, Json]:
    """What the lock file knows the source by: everything but what is applied after reading."""
    key: dict[str, Json] = {kind: node_values.value(node, faults)}
    if "operations" in found:
        key["operations"] = node_values.value(found["operations"][1], faults)
    return key


def _inline(node: Node, found: Entries, faults: Faults, extensions: Extensions) -> list[Tool]:
    if found and not any(name in found for name in _INLINE):
        key = next(iter(found.values()))[0]
        kinds = (*_BUILT_IN, *extensions.tool_sources)
        hint = did_you_mean(key.value, kinds) or f"a tool has a `name`; sources are {', '.join(kinds)}"
        faults.add("unknown-key", key, f"{shown(key.value)} is no source of tools", hint)
        return []
    before = len(faults.found)
    data = node_values.value(node, faults)
    return [tool_from_data(data)] if isinstance(node, MappingNode) and len(faults.found) == before else []


def _dotted(path: Sequence[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


@dataclass(frozen=True, slots=True)
class _Source:
    faults: Faults
    place: SourcePaths
    extensions: Extensions

    def read(self, kind: str, node: Node, found: Entries) -> Sequence[Tool]:
        if is_locked(kind, node):
            return self._locked(kind, node, found)
        if kind in self.extensions.tool_sources:
            return self._foreign(kind, node)
        return _READERS[kind](self, node, found)

    def python(self, node: Node, _: Entries) -> list[Tool]:
        root = str(self.place.root)
        if root not in sys.path:
            sys.path.insert(0, root)
        specs = node.value if isinstance(node, SequenceNode) else [node]
        return [tool for spec in specs for tool in self._imported(spec)]

    def file(self, node: Node, _: Entries) -> list[Tool]:
        data = self._data(node)
        return [] if data is None else tools_from_data(data, source=node.value)

    def openapi(self, node: Node, found: Entries) -> list[Tool]:
        from pytest_fcall.schema.sources.openapi import tools_from_openapi

        wanted = (
            node_values.texts(found["operations"][1], self.faults, "`operations`") if "operations" in found else None
        )
        data = self._data(node)
        return [] if data is None else tools_from_openapi(data, wanted)

    def _imported(self, node: Node) -> list[Tool]:
        from pytest_fcall.schema.sources.python_tools import tools_from_python

        spec = node_values.word(node, self.faults, "`python`")
        if not spec:
            return []
        try:
            return tools_from_python(spec)
        except SchemaError:
            raise
        except (Exception, SystemExit) as error:  # the user's code may raise anything
            self.faults.add("bad-tool", node, f"{shown(spec)} cannot be imported: {type(error).__name__}: {error}")
            return []

    def _locked(self, kind: str, node: Node, found: Entries) -> Sequence[Tool]:
        before = len(self.faults.found)
        key = lock_key(kind, node, found, self.faults)
        if kind == "mcp":
            self._check_server(node)
        if len(self.faults.found) > before:
            return []
        path = lock_path(self.place.case_file)
        tools = read_lock(path).tools(key)
        if tools is None:
            message = f"the tools of this source are not in {shown(path.name)}"
            self.faults.add("not-locked", node, message, f"run: fcall tools lock {self._case_file()}")
            return []
        return [replace(tool, origin={"mcp": key["mcp"]}) for tool in tools] if kind == "mcp" else tools

    def _case_file(self) -> str:
        path, root = self.place.case_file, self.place.root
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)

    def _check_server(self, node: Node) -> None:
        found = node_values.entries(node, self.faults, "`mcp`")
        node_values.known_only(found, ("command", "url", "env", "cwd", "headers"), self.faults, "`mcp`")
        if isinstance(node, MappingNode) and ("command" in found) == ("url" in found):
            hint = "such as {command: [my-server]}"
            self.faults.add("missing-key", node, "a server has a `command` or a `url`", hint)

    def _foreign(self, kind: str, node: Node) -> Sequence[Tool]:
        spec = node_values.value(node, self.faults)
        try:
            return list(self.extensions.tool_sources[kind](spec, self.place.folder))
        except Exception as error:  # other packages' code
            self.faults.add("bad-tool", node, f"the source `{kind}` cannot be read: {error}")
            return []

    def _data(self, node: Node) -> Json:
        path = find_file(node, self.place.folder, self.faults)
        return None if path is None else read_data(path, node, self.faults)


_READERS: Mapping[str, Callable[[_Source, Node, Entries], Sequence[Tool]]] = {
    "python": _Source.python,
    "file": _Source.file,
    "openapi": _Source.openapi,
}


def _picked(tools: Sequence[Tool], found: Entries, faults: Faults) -> list[Tool]:
    """What `only`, `without` and `as` leave, in this order."""
    picked = pick_tools(tools, found, faults)
    if "as" not in found:
        return picked
    prefix = node_values.word(found["as"][1], faults, "`as`")
    if prefix and not _PREFIX.fullmatch(prefix):
        hint = "letters, digits, underscores and dashes only"
        faults.add("wrong-value", found["as"][1], f"{shown(prefix)} cannot begin a tool's name", hint)
    return [_prefixed(tool, prefix) for tool in picked]


def _prefixed(tool: Tool, prefix: str) -> Tool:
    return replace(tool, name=f"{prefix}__{tool.name}", origin={"name": tool.name, **(tool.origin or {})})


def pick_tools(tools: Sequence[Tool], found: Entries, faults: Faults) -> list[Tool]:
    """The tools that `only` and `without` leave. A name among them that names nothing is a fault."""
    names = [tool.name for tool in tools]
    picked = list(tools)
    for key in ("only", "without"):
        if key not in found:
            continue
        globs = one_or_many(found[key][1], faults, f"each of `{key}`")
        for glob, node in globs:
            if glob and not any(glob_matches(glob, name) for name in names):
                what = "tool matches" if is_glob(glob) else "tool is called"
                faults.add("unknown-tool", node, f"no {what} {shown(glob)} here", did_you_mean(glob, names))
        listed = [glob for glob, _ in globs]
        picked = [tool for tool in picked if any(glob_matches(glob, tool.name) for glob in listed) == (key == "only")]
    return picked
