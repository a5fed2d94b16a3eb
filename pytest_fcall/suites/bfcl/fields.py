"""The fields of a row, of whatever type they turn out to be."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcall.core.values import Json
from pytest_fcall.suites.json_lines import BrokenRow


def text(row: Mapping[str, Json], name: str) -> str:
    """Give a field that must be a string."""
    value = _given(row, name)
    if not isinstance(value, str):
        raise BrokenRow(f"`{name}` is not a string")
    return value


def flag(row: Mapping[str, Json], name: str) -> bool:
    """Give a field that is true or false; false where it is missing."""
    value = row.get(name, False)
    if not isinstance(value, bool):
        raise BrokenRow(f"`{name}` is neither true nor false")
    return value


def objects(row: Mapping[str, Json], name: str) -> list[Mapping[str, Json]]:
    """Give a field that must be a list of objects; null is an empty one."""
    value = _given(row, name)
    items = [] if value is None else value
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise BrokenRow(f"`{name}` is not a list of objects")
    return [item for item in items if isinstance(item, Mapping)]


def _given(row: Mapping[str, Json], name: str) -> Json:
    try:
        return row[name]
    except KeyError:
        raise BrokenRow(f"it has no `{name}`") from None
