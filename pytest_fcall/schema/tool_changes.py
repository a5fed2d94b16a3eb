"""Changes between two lists of tools, in words for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_fcall.core import Json, Tool, canonical

_PROSE = frozenset({"description", "title", "examples"})
_OWN_WORDS = frozenset({"properties", "required", "items", "enum", "type"})


@dataclass(frozen=True, slots=True)
class ToolChange:
    """A tool that was added, removed or changed, with one line for each change."""

    kind: Literal["added", "removed", "changed"]
    tool: str
    details: tuple[str, ...] = ()


def tool_changes(before: Sequence[Tool], after: Sequence[Tool]) -> list[ToolChange]:
    """The differences in tools, arguments and descriptions. The order of tools does not count."""
    old, new = {tool.name: tool for tool in before}, {tool.name: tool for tool in after}
    changes = [ToolChange("removed", name) for name in old if name not in new]
    changes += [ToolChange("added", name) for name in new if name not in old]
    both = [(tool, new[name]) for name, tool in old.items() if name in new]
    changes += [ToolChange("changed", was.name, details) for was, now in both if (details := _tool_details(was, now))]
    return changes


def _tool_details(before: Tool, after: Tool) -> tuple[str, ...]:
    try:
        details = list(_schema_details("", before.parameters, after.parameters))
    except (RecursionError, ValueError):  # nested too deep, or not a JSON number
        details = ["its parameters changed"]
    if before.description != after.description:
        details.append("its description changed")
    return tuple(details)


def _schema_details(path: str, before: Mapping[str, Json], after: Mapping[str, Json]) -> Iterator[str]:
    yield from _argument_details(path, before, after)
    items = _schema(before.get("items")), _schema(after.get("items"))
    if items != ({}, {}):
        yield from _schema_details(f"{path}[]", *items)
    at = f"`{path}`" if path else "the arguments"
    if not _same(before.get("type"), after.get("type")):
        yield f"{at}: type {_text(before.get('type'))} became {_text(after.get('type'))}"
    yield from _enum_details(at, before.get("enum"), after.get("enum"))
    for key in sorted((before.keys() | after.keys()) - _OWN_WORDS):
        if _same(before.get(key), after.get(key)):
            continue
        if key in _PROSE:
            yield f"{at}: its {key} changed"
        else:
            yield f"{at}: {key} {_text(before.get(key))} became {_text(after.get(key))}"


def _argument_details(path: str, before: Mapping[str, Json], after: Mapping[str, Json]) -> Iterator[str]:
    old, new = _schemas(before), _schemas(after)
    was_required, is_required = _names(before), _names(after)
    for name in old:
        if name not in new:
            yield f"`{_join(path, name)}` was removed"
    for name, schema in new.items():
        at = _join(path, name)
        if name not in old:
            yield f"`{at}` is new and {'required' if name in is_required else 'optional'}"
            continue
        if (name in was_required) != (name in is_required):
            yield f"`{at}` became {'required' if name in is_required else 'optional'}"
        yield from _schema_details(at, old[name], schema)


def _enum_details(at: str, before: Json, after: Json) -> Iterator[str]:
    if not isinstance(before, list) or not isinstance(after, list):
        if not _same(before, after):
            yield f"{at}: allowed values {_text(before)} became {_text(after)}"
        return
    old, new = list(map(_text, before)), list(map(_text, after))
    if gone := [value for value in old if value not in new]:
        yield f"{at}: {', '.join(gone)} no longer allowed"
    if added := [value for value in new if value not in old]:
        yield f"{at}: {', '.join(added)} now allowed"


def _schemas(schema: Mapping[str, Json]) -> dict[str, Mapping[str, Json]]:
    properties = schema.get("properties")
    return {name: _schema(value) for name, value in _schema(properties).items()}


def _schema(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _names(schema: Mapping[str, Json]) -> frozenset[str]:
    required = schema.get("required")
    return frozenset(map(str, required)) if isinstance(required, list | tuple) else frozenset()


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _same(before: Json, after: Json) -> bool:
    return canonical(before) == canonical(after)


def _text(value: Json) -> str:
    if value is None:
        return "(none)"
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= 80 else f"{text[:77]}…"
