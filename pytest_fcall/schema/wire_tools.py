"""Tools in the wire format of a provider, and their names on the wire and back."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

from pytest_fcall.core import Json, Message, Tool
from pytest_fcall.core.identity_key import IdentityKey
from pytest_fcall.schema.traversal import schemas_in
from pytest_fcall.schema.wire_parameters import StrictModeError, object_root, strict_parameters

__all__ = ["CHAT", "RESPONSES", "WireFormat", "WireTools", "tools_for_wire"]


_LONGEST = 64
_UNTAKEN = re.compile(r"[^a-zA-Z0-9_-]")


def wire_name(name: str) -> str:
    """`name` in at most 64 ASCII letters, digits, `_` and `-`; any other character becomes `_`.

    Where that would lose what tells names apart (letters of other scripts, the end of a long name), a short digest of
    the whole name ends it.
    """
    plain = _UNTAKEN.sub("_", name)
    if plain and len(plain) <= _LONGEST and name.isascii():
        return plain
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain[: _LONGEST - len(mark) - 1]}_{mark}"


def wire_names(names: Sequence[str]) -> dict[str, str]:
    """The names by those they have on the wire. Raises ValueError, in words, where two would be the same there."""
    aliases: dict[str, str] = {}
    for name in names:
        alias = wire_name(name)
        if alias in aliases:
            raise ValueError(
                f"the tools `{aliases[alias]}` and `{name}` would both be sent as `{alias}`: rename one of them"
            )
        aliases[alias] = name
    return aliases


_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


@dataclass(frozen=True, slots=True)
class WireFormat:
    """How tools are told: in the form of Chat Completions or of Responses; `strict` binds the model to the schemas."""

    form: Literal["chat", "responses"]
    strict: bool = False


CHAT = WireFormat("chat")
RESPONSES = WireFormat("responses")


@dataclass(frozen=True, slots=True)
class WireTools:
    """What goes out, to be sent as it is, and the way back. Shared by requests: not to be changed."""

    tools: Sequence[Mapping[str, Json]]
    aliases: Mapping[str, str]
    """Name on the wire -> the tool's own name; all tools are in it."""
    changes: tuple[str, ...] = ()
    """What differs from the tools as the case has them, one line each, for people who ask."""
    effects: tuple[Literal["nulls"], ...] = ()
    """For `Reply.engine["wire"]`."""

    def sent(self, name: str) -> str:
        """The name that a tool has on the wire."""
        return wire_name(name)

    def back(self, name: Json) -> Json:
        """The tool's own name for what came back; a name that nobody sent is left as it is."""
        return self.aliases.get(name, name) if isinstance(name, str) else name

    def message(self, message: Message) -> Message:
        """An earlier message of the conversation, with the names of tools as the wire has them."""
        out = dict(message)
        if isinstance(calls := message.get("tool_calls"), list | tuple):
            out["tool_calls"] = [_within(call, "function") for call in calls]
        out = _within(out, "function_call")
        return _renamed(out) if message.get("role") in ("tool", "function") else out


def tools_for_wire(tools: Sequence[Tool], wire: WireFormat = CHAT) -> WireTools:
    """Put `tools` into the form that `wire` takes; cheap for tools that it was asked for lately.

    Raises ValueError, in words, where two tools would have one name.
    """
    return _outgoing(tuple(map(IdentityKey, tools)), wire)


@lru_cache(maxsize=256)
def _outgoing(catalogue: tuple[IdentityKey[Tool], ...], wire: WireFormat) -> WireTools:
    tools = [key.value for key in catalogue]
    aliases = wire_names([tool.name for tool in tools])
    changes: list[str] = []
    nulls = False
    sent = []
    for alias, tool in zip(aliases, tools, strict=True):
        if alias != tool.name:
            changes.append(f"`{tool.name}` is sent as `{alias}`")
        told: list[str] = []
        parameters, strict, null = _parameters(tool, wire, told)
        nulls |= null
        changes += [f"`{tool.name}`: {change}" for change in told]
        sent.append(_written(tool, alias, parameters, wire, strict=strict))
    return WireTools(sent, MappingProxyType(aliases), tuple(changes), ("nulls",) if nulls else ())


def _parameters(tool: Tool, wire: WireFormat, changes: list[str]) -> tuple[dict[str, Json], bool, bool]:
    """The schema that goes out, whether the model can be bound to it, and whether it makes optional arguments null."""
    if foreign := _foreign_types(tool):
        changes.append(f"the types {', '.join(foreign)} are sent as those of JSON Schema")
    plain = object_root(tool.parameters, changes)
    if not wire.strict:
        return plain, False, False
    told: list[str] = []
    try:
        strict, nulls = strict_parameters(plain, told)
    except StrictModeError as error:
        changes.append(f"not sent as strict: {error}")
        return plain, False, False
    changes += told
    return strict, True, nulls


def _within(value: Json, key: str) -> Any:
    """`value` with the name in what stands under `key` as the wire has it."""
    inner = value.get(key) if isinstance(value, Mapping) else None
    return {**value, key: _renamed(inner)} if isinstance(value, Mapping) and isinstance(inner, Mapping) else value


def _renamed(named: Mapping[str, Json]) -> dict[str, Json]:
    name = named.get("name")
    return {**named, "name": wire_name(name)} if isinstance(name, str) else dict(named)


def _foreign_types(tool: Tool) -> list[str]:
    """The names of types that the schema was written with and JSON Schema does not have."""
    kinds = (schema.get("type") for _, schema in schemas_in(tool.declared))
    names = {name for kind in kinds for name in (kind if isinstance(kind, list) else [kind]) if isinstance(name, str)}
    return sorted(f"`{name}`" for name in names - _TYPES)


def _written(
    tool: Tool, name: str, parameters: Mapping[str, Json], wire: WireFormat, *, strict: bool
) -> Mapping[str, Json]:
    function: dict[str, Json] = {"name": name}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = parameters
    if strict or wire.form == "responses":  # Responses takes a tool for strict unless told otherwise
        function["strict"] = strict
    return {"type": "function", "function": function} if wire.form == "chat" else {"type": "function", **function}
