"""Typed fields of a row; BrokenRow where a field is missing or has another type."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_files import BrokenRow


def text_field(row: Mapping[str, Json], name: str) -> str:
    """Give a field that must be a string."""
    value = _required_field(row, name)
    if not isinstance(value, str):
        raise BrokenRow(f"`{name}` is not a string")
    return value


def flag_field(row: Mapping[str, Json], name: str) -> bool:
    """Give a field that is true or false; false where it is missing."""
    value = row.get(name, False)
    if not isinstance(value, bool):
        raise BrokenRow(f"`{name}` is neither true nor false")
    return value


def objects_field(row: Mapping[str, Json], name: str) -> list[Mapping[str, Json]]:
    """Give a field that must be a list of objects; null is an empty one."""
    value = _required_field(row, name)
    items = [] if value is None else value
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise BrokenRow(f"`{name}` is not a list of objects")
    return [item for item in items if isinstance(item, Mapping)]


def _required_field(row: Mapping[str, Json], name: str) -> Json:
    try:
        return row[name]
    except KeyError:
        raise BrokenRow(f"it has no `{name}`") from None
