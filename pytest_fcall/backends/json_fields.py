"""Typed fields of JSON that may be damaged."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TypeVar

from pytest_fcall.core import Json

T = TypeVar("T")

_WORDS: Mapping[type, str] = {str: "a string", int: "an integer", dict: "a mapping", list: "a list"}


class DamagedData(ValueError):
    """The data is not what it should be; the text says which part."""


def as_mapping(value: Json, name: str) -> Mapping[str, Json]:
    """Return `value`, which must be a mapping."""
    if not isinstance(value, Mapping):
        raise DamagedData(f"{name} is not a mapping")
    return value


def optional_field(data: Mapping[str, Json], key: str, kind: type[T]) -> T | None:
    """Return the field, None where it is absent or null. A bool is no integer."""
    value = data.get(key)
    if value is None:
        return None
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
        raise DamagedData(f"`{key}` is not {_WORDS[kind]}")
    return value


def optional_number(data: Mapping[str, Json], key: str) -> float | None:
    """Return the field as a float, None where it is absent or null."""
    value = data.get(key)
    if value is None:
        return None
    if not isinstance(value, float | int) or isinstance(value, bool) or abs(value) > sys.float_info.max:
        raise DamagedData(f"`{key}` is not a number")
    return float(value)


def required_field(data: Mapping[str, Json], key: str, kind: type[T]) -> T:
    """Return the field, which must be there."""
    value = optional_field(data, key, kind)
    if value is None:
        raise DamagedData(f"`{key}` is missing")
    return value
