"""Typed fields of JSON objects from files, processes and servers."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TypeVar

from pytest_fcall.core import Json

T = TypeVar("T")

_TYPE_NAMES: Mapping[type, str] = {
    str: "a string",
    int: "an integer",
    bool: "true or false",
    dict: "a mapping",
    list: "a list",
}


class DamagedData(ValueError):
    """The data does not have the expected form. The message names the part."""


class LaterVersion(DamagedData):
    """The data is in a version of its format that only a later pytest-fcall reads."""

    def __init__(self, version: int, newest: int) -> None:
        super().__init__(
            f"a later pytest-fcall wrote it in version {version} of its format, and this one reads up to {newest}: "
            "update pytest-fcall"
        )


def as_mapping(value: Json, name: str) -> Mapping[str, Json]:
    """Return `value`. Raises DamagedData, with `name`, unless it is a mapping."""
    if not isinstance(value, Mapping):
        raise DamagedData(f"{name} is not a mapping")
    return value


def optional_field(data: Mapping[str, Json], key: str, kind: type[T]) -> T | None:
    """Return the field, None where it is absent or null. A bool is not an integer."""
    value = data.get(key)
    if value is None:
        return None
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        raise DamagedData(f"`{key}` is not {_TYPE_NAMES[kind]}")
    return value


def required_field(data: Mapping[str, Json], key: str, kind: type[T]) -> T:
    """Return the field. Raises DamagedData where it is absent or null."""
    value = optional_field(data, key, kind)
    if value is None:
        raise DamagedData(f"`{key}` is missing")
    return value


def check_version(data: Mapping[str, Json], key: str, newest: int) -> None:
    """Raise LaterVersion for data in a later version than `newest`, and DamagedData where the field is no version."""
    if (version := required_field(data, key, int)) > newest:
        raise LaterVersion(version, newest)


def optional_list_of_strings(data: Mapping[str, Json], key: str) -> Sequence[str]:
    """Return the field, a list of strings; an empty one where it is absent or null."""
    value = optional_field(data, key, list) or []
    if not all(isinstance(item, str) for item in value):
        raise DamagedData(f"`{key}` is not a list of strings")
    return value


def optional_number(data: Mapping[str, Json], key: str) -> float | None:
    """Return the field as a float, None where it is absent or null."""
    value = data.get(key)
    if value is None:
        return None
    if not isinstance(value, float | int) or isinstance(value, bool) or abs(value) > sys.float_info.max:
        raise DamagedData(f"`{key}` is not a number")
    return float(value)


def optional_strings(data: Mapping[str, Json], key: str) -> Mapping[str, str] | None:
    """Return the field, a mapping to strings, or None where it is absent or null."""
    value = optional_field(data, key, dict)
    if value is not None and not all(isinstance(item, str) for item in value.values()):
        raise DamagedData(f"`{key}` is not a mapping to strings")
    return value
