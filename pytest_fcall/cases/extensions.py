"""What case files may name that this room does not know of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_fcall.core.extension import Suite, ToolSource


@dataclass(frozen=True, slots=True)
class Extensions:
    """Tool sources and suites by name, and names alone: of operators that others add, and of all decoders."""

    tool_sources: Mapping[str, ToolSource] = field(default_factory=dict)
    comparators: frozenset[str] = frozenset()
    decoders: frozenset[str] = frozenset()
    suites: Mapping[str, Suite] = field(default_factory=dict)
