"""Typed fields of JSON from files, which may be damaged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from pytest_fcall.core import Json

T = TypeVar("T")

_TYPE_WORDS: Mapping[type, str] = MappingProxyType(
    {str: "a string", int: "an integer", bool: "true or false", dict: "a mapping", list: "a list"}
)


@dataclass(frozen=True, slots=True)
class JsonFields:
    """A mapping whose fields are taken out one by one. What is not as it should be is a ValueError that names it."""

    data: Mapping[str, Json]

    @classmethod
    def of(cls, data: Json, what: str) -> JsonFields:
        """Take `data`, which must be a mapping; `what` it is, for the message."""
        if isinstance(data, Mapping):
            return cls(data)
        raise ValueError(f"{what} is not a mapping")

    def optional(self, name: str, kind: type[T]) -> T | None:
        """Return the field, None where it is absent or null. A bool is no integer."""
        value = self.data.get(name)
        if value is None:
            return None
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            raise ValueError(f"`{name}` is not {_TYPE_WORDS[kind]}")
        return value

    def required(self, name: str, kind: type[T]) -> T:
        """Return the field, which must be there."""
        value = self.optional(name, kind)
        if value is None:
            raise ValueError(f"`{name}` is missing")
        return value

    def texts(self, name: str) -> Mapping[str, str] | None:
        """Return the field, None where it is absent or null; it must be a mapping to strings."""
        found = self.optional(name, dict)
        if found is not None and not all(isinstance(each, str) for each in found.values()):
            raise ValueError(f"`{name}` is not a mapping to strings")
        return found
