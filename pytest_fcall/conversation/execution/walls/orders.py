"""What a process may do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Walls:
    """Folders and files that may be read, the one folder that may be written in, and the rest of the limits."""

    readable: tuple[str, ...]
    writable: str
    memory: int
    file: int
    network: bool
    processes: bool

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Walls:
        """What `to_data` gave, after a journey as JSON."""
        return cls(**{**data, "readable": tuple(data["readable"])})

    def to_data(self) -> dict[str, Any]:
        """A mapping for JSON."""
        return asdict(self)
