"""Attributes of OpenTelemetry: typed values, and values that were flattened into names with dots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_fcall.core import Json
from pytest_fcall.traces.values import items, mapping, text

_MOST_ITEMS: Final = 10_000
"""The longest list that is put together from attributes: a larger number in a name is no index."""


def flat_attributes(attributes: Json) -> Mapping[str, Json]:
    """Attributes by name, from a mapping or from OTLP's list of typed values."""
    if isinstance(attributes, Mapping):
        return attributes
    pairs = (mapping(each) for each in items(attributes))
    return {name: typed_value(pair.get("value")) for pair in pairs if (name := text(pair.get("key")))}


def nested_attributes(attributes: Mapping[str, Json], prefix: str) -> Json:
    """The value that was flattened into attributes such as `PREFIX.0.role`. None without such attributes."""
    tree: dict[str, Json] = {}
    for name, value in attributes.items():
        if name.startswith(f"{prefix}."):
            _insert(tree, name[len(prefix) + 1 :].split("."), value)
    return _with_lists(tree) if tree else None


def _insert(tree: dict[str, Json], steps: list[str], value: Json) -> None:
    for step in steps[:-1]:
        inner = tree.setdefault(step, {})
        if not isinstance(inner, dict):
            return
        tree = inner
    tree.setdefault(steps[-1], value)


def _with_lists(value: Json) -> Json:
    """The value with lists in place of mappings whose keys are numbers."""
    if not isinstance(value, Mapping):
        return value
    if value and all(key.isascii() and key.isdecimal() and len(key) < 6 for key in value):
        return [_with_lists(value[key]) for key in sorted(value, key=int)[:_MOST_ITEMS]]
    return {key: _with_lists(inner) for key, inner in value.items()}


def typed_value(data: Json) -> Json:
    """The value of one of OTLP's typed values."""
    if not isinstance(data, Mapping):
        return data
    for name, value in data.items():
        match name:
            case "intValue" | "int_value":
                is_number = isinstance(value, str) and value.lstrip("-").isdecimal() and len(value) < 25
                return int(str(value)) if is_number else value
            case "arrayValue" | "array_value":
                return [typed_value(each) for each in items(mapping(value).get("values"))]
            case "kvlistValue" | "kvlist_value":
                return dict(flat_attributes(mapping(value).get("values")))
            case "stringValue" | "string_value" | "boolValue" | "bool_value" | "doubleValue" | "double_value":
                return value
    return dict(data)
