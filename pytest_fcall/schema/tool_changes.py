"""Changes between two lists of tools, in words for people."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_fcall.core.digests import canonical, same_json
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, mapping_or_empty

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
    items = mapping_or_empty(before.get("items")), mapping_or_empty(after.get("items"))
    if items != ({}, {}):
        yield from _schema_details(f"{path}[]", *items)
    at = f"`{path}`" if path else "the arguments"
    if not same_json(before.get("type"), after.get("type")):
        yield f"{at}: type {_text(before.get('type'))} became {_text(after.get('type'))}"
    yield from _enum_details(at, before.get("enum"), after.get("enum"))
    for key in sorted((before.keys() | after.keys()) - _OWN_WORDS):
        if same_json(before.get(key), after.get(key)):
            continue
        if key in _PROSE:
            yield f"{at}: its {key} changed"
        else:
            yield f"{at}: {key} {_text(before.get(key))} became {_text(after.get(key))}"


def _argument_details(path: str, before: Mapping[str, Json], after: Mapping[str, Json]) -> Iterator[str]:
    old, new = _schemas(before), _schemas(after)
    was_required, is_required = _names(before), _names(after)
    former = _former_names(old, new)
    for name in old:
        if name not in new and name not in former.values():
            yield f"`{_join(path, name)}` was removed"
    for name, schema in new.items():
        at, was = _join(path, name), former.get(name, name)
        if was not in old:
            yield f"`{at}` is new and {'required' if name in is_required else 'optional'}"
            continue
        before_schema = old[was]
        if was != name:
            yield f"`{_join(path, was)}` was renamed to `{at}`"
            before_schema = {**before_schema, "title": schema.get("title")}  # it is made of the name
        if (was in was_required) != (name in is_required):
            yield f"`{at}` became {'required' if name in is_required else 'optional'}"
        yield from _schema_details(at, before_schema, schema)


def _former_names(old: Mapping[str, Mapping[str, Json]], new: Mapping[str, Mapping[str, Json]]) -> dict[str, str]:
    """The former names of arguments: exactly one is gone, and one is new, with the same schema but for its prose."""
    gone = Counter(_shape(schema) for name, schema in old.items() if name not in new)
    come = Counter(_shape(schema) for name, schema in new.items() if name not in old)
    single = {shape for shape, count in come.items() if count == gone[shape] == 1}
    names = {_shape(schema): name for name, schema in old.items() if name not in new}
    return {
        name: names[shape] for name, schema in new.items() if name not in old and (shape := _shape(schema)) in single
    }


def _shape(schema: Mapping[str, Json]) -> str:
    """The schema without prose."""
    return canonical({key: value for key, value in schema.items() if key not in _PROSE})


def _enum_details(at: str, before: Json, after: Json) -> Iterator[str]:
    if not isinstance(before, list) or not isinstance(after, list):
        if not same_json(before, after):
            yield f"{at}: allowed values {_text(before)} became {_text(after)}"
        return
    old, new = list(map(_text, before)), list(map(_text, after))
    if gone := [value for value in old if value not in new]:
        yield f"{at}: {', '.join(gone)} no longer allowed"
    if added := [value for value in new if value not in old]:
        yield f"{at}: {', '.join(added)} now allowed"


def _schemas(schema: Mapping[str, Json]) -> dict[str, Mapping[str, Json]]:
    properties = schema.get("properties")
    return {name: mapping_or_empty(value) for name, value in mapping_or_empty(properties).items()}


def _names(schema: Mapping[str, Json]) -> frozenset[str]:
    required = schema.get("required")
    return frozenset(map(str, required)) if isinstance(required, list | tuple) else frozenset()


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _text(value: Json) -> str:
    if value is None:
        return "(none)"
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= 80 else f"{text[:77]}…"
