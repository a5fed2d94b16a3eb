"""Recorded results in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_fcall.core import CallResult, Json


@dataclass
class MemoryStore:
    """A result store in memory."""

    conversation_key: str = "first request"
    offline: bool = False
    results: dict[str, CallResult] = field(default_factory=dict)
    calls: list[Mapping[str, Json]] = field(default_factory=list)

    def find(self, key: str) -> CallResult | None:
        return self.results.get(key)

    def keep(self, key: str, call: Mapping[str, Json], result: CallResult) -> None:
        self.results[key] = result
        self.calls.append(call)
