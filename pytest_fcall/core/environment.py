"""What really answers the calls of a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pytest_fcall.core.values import Json


@dataclass(frozen=True, slots=True)
class Executed:
    """What came of a call: a value, or an error in words, which a model may be told."""

    value: Json = None
    error: str | None = None
    place: str | None = field(default=None, compare=False)
    """Where in the project's own code the error rose, for people: `shop/tools.py, line 7`."""


class Environment(Protocol):
    """What stands behind the tools of one conversation. Total: what goes wrong with a call is its result."""

    async def call(self, tool: str, arguments: Mapping[str, Json]) -> Executed:
        """Carry out one call."""
        ...

    async def state(self, names: Sequence[str] | None = None) -> Executed:
        """Read the public attributes of these names, or all, as a mapping."""
        ...

    async def close(self) -> None:
        """End what was started. Called once, also after failures."""
        ...
