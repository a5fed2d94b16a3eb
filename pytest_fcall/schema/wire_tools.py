"""Tools in the wire format of a provider, with names that it accepts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

from pytest_fcall.core.digests import IdentityKey
from pytest_fcall.core.request import Interface, Tool, Wording
from pytest_fcall.core.values import Json, Message
from pytest_fcall.schema.traversal import schemas_in
from pytest_fcall.schema.wire_parameters import StrictModeError, object_root, strict_parameters

_LONGEST = 64
_UNTAKEN = re.compile(r"[^a-zA-Z0-9_-]")


def wire_name(name: str) -> str:
    """`name` in at most 64 ASCII letters, digits, `_` and `-`; any other character becomes `_`.

    A name with letters of other scripts, or a longer one, ends with a short digest, so that different names stay
    different.
    """
    plain = _UNTAKEN.sub("_", name)
    if plain and len(plain) <= _LONGEST and name.isascii():
        return plain
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain[: _LONGEST - len(mark) - 1]}_{mark}"


def wire_names(names: Sequence[str]) -> dict[str, str]:
    """The names by their names on the wire. Raises ValueError with a message for people if two are the same there."""
    aliases: dict[str, str] = {}
    for name in names:
        _add_alias(aliases, wire_name(name), name)
    return aliases


def _add_alias(aliases: dict[str, str], alias: str, name: str) -> None:
    if alias in aliases:
        raise ValueError(
            f"the tools `{aliases[alias]}` and `{name}` would both be sent as `{alias}`: rename one of them"
        )
    aliases[alias] = name


_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


@dataclass(frozen=True, slots=True)
class WireFormat:
    """The format of tools: that of Chat Completions or Responses; `strict` binds the model to the schemas."""

    form: Literal["chat", "responses"]
    strict: bool = False


CHAT = WireFormat("chat")
RESPONSES = WireFormat("responses")


@dataclass(frozen=True, slots=True)
class WireWording:
    """A wording of a benchmark's, and the interface that it writes for."""

    wording: Wording
    interface: Interface


@dataclass(frozen=True, slots=True)
class WireTools:
    """Tools as they are sent, and their names. Requests share these objects, which must not be changed."""

    tools: Sequence[Mapping[str, Json]]
    aliases: Mapping[str, str]
    """The name of each tool by its name on the wire."""
    changes: tuple[str, ...] = ()
    """The differences to the tools of the case, one line each, for people."""
    effects: tuple[Literal["nulls"], ...] = ()
    """For `Reply.engine["wire"]`."""
    worded_names: Mapping[str, str] = field(default_factory=dict)
    """The name on the wire of each tool that a wording has named."""

    def wire_name(self, name: str) -> str:
        """The name of a tool on the wire."""
        return self.worded_names.get(name) or wire_name(name)

    def tool_name(self, name: Json) -> Json:
        """The name of a tool by its name on the wire; any other value unchanged."""
        return self.aliases.get(name, name) if isinstance(name, str) else name

    def wire_message(self, message: Message) -> Message:
        """An earlier message of the conversation with the names of tools on the wire."""
        out = dict(message)
        if isinstance(calls := message.get("tool_calls"), list | tuple):
            out["tool_calls"] = [self._within(call, "function") for call in calls]
        out = self._within(out, "function_call")
        return self._renamed(out) if message.get("role") in ("tool", "function") else out

    def _within(self, value: Json, key: str) -> Any:
        """`value` with the name in the mapping at `key` as it is on the wire."""
        inner = value.get(key) if isinstance(value, Mapping) else None
        if not (isinstance(value, Mapping) and isinstance(inner, Mapping)):
            return value
        return {**value, key: self._renamed(inner)}

    def _renamed(self, named: Mapping[str, Json]) -> dict[str, Json]:
        name = named.get("name")
        return {**named, "name": self.wire_name(name)} if isinstance(name, str) else dict(named)


def tools_for_wire(tools: Sequence[Tool], wire: WireFormat = CHAT, worded: WireWording | None = None) -> WireTools:
    """The tools in a wire format, in the words of `worded`. The latest results are kept for the life of the process.

    Raises ValueError with a message for people if two tools would have the same name.
    """
    return _wire_tools(tuple(map(IdentityKey, tools)), wire, worded)


@lru_cache(maxsize=256)
def _wire_tools(catalogue: tuple[IdentityKey[Tool], ...], wire: WireFormat, worded: WireWording | None) -> WireTools:
    tools = [key.value for key in catalogue]
    if worded is not None:
        return _worded_tools(tools, wire, worded)
    aliases = wire_names([tool.name for tool in tools])
    changes = _renaming_notes(aliases)
    nulls = False
    sent = []
    for alias, tool in zip(aliases, tools, strict=True):
        own_changes: list[str] = []
        parameters, strict, null = _parameters(tool, wire, own_changes)
        nulls |= null
        changes += [f"`{tool.name}`: {change}" for change in own_changes]
        sent.append(_wire_tool(tool, alias, parameters, wire, strict=strict))
    return WireTools(sent, MappingProxyType(aliases), tuple(changes), ("nulls",) if nulls else ())


def _worded_tools(tools: Sequence[Tool], wire: WireFormat, worded: WireWording) -> WireTools:
    functions = [worded.wording.function(tool, worded.interface) for tool in tools]
    aliases: dict[str, str] = {}
    for function, tool in zip(functions, tools, strict=True):
        _add_alias(aliases, str(function.get("name")), tool.name)
    names = MappingProxyType({name: alias for alias, name in aliases.items()})
    sent: list[Mapping[str, Json]] = [
        {"type": "function", "function": each} if wire.form == "chat" else {**each, "type": "function"}
        for each in functions
    ]
    return WireTools(sent, MappingProxyType(aliases), tuple(_renaming_notes(aliases)), worded_names=names)


def _renaming_notes(aliases: Mapping[str, str]) -> list[str]:
    return [f"`{name}` is sent as `{alias}`" for alias, name in aliases.items() if alias != name]


def _parameters(tool: Tool, wire: WireFormat, changes: list[str]) -> tuple[dict[str, Json], bool, bool]:
    """The schema as it is sent, whether it is strict, and whether optional arguments became null."""
    if foreign := _foreign_types(tool):
        changes.append(f"the types {', '.join(foreign)} are sent as those of JSON Schema")
    plain = object_root(tool.parameters, changes)
    if not wire.strict:
        return plain, False, False
    strict_changes: list[str] = []
    try:
        strict, nulls = strict_parameters(plain, strict_changes)
    except StrictModeError as error:
        changes.append(f"not sent as strict: {error}")
        return plain, False, False
    changes += strict_changes
    return strict, True, nulls


def _foreign_types(tool: Tool) -> list[str]:
    """The type names in the tool's own schema that JSON Schema does not have."""
    kinds = (schema.get("type") for _, schema in schemas_in(tool.declared))
    names = {name for kind in kinds for name in (kind if isinstance(kind, list) else [kind]) if isinstance(name, str)}
    return sorted(f"`{name}`" for name in names - _TYPES)


def _wire_tool(
    tool: Tool, name: str, parameters: Mapping[str, Json], wire: WireFormat, *, strict: bool
) -> Mapping[str, Json]:
    function: dict[str, Json] = {"name": name}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = parameters
    if strict or wire.form == "responses":  # in Responses, tools are strict by default
        function["strict"] = strict
    return {"type": "function", "function": function} if wire.form == "chat" else {"type": "function", **function}
