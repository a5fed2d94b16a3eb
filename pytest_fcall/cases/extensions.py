"""What other packages add to the language of case files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_fcall.core.extension import ToolSource


@dataclass(frozen=True, slots=True)
class Extensions:
    """Tool sources by their key, and the names of operators, decoders and suites."""

    tool_sources: Mapping[str, ToolSource] = field(default_factory=dict)
    comparators: frozenset[str] = frozenset()
    decoders: frozenset[str] = frozenset()
    suites: frozenset[str] = frozenset()
