"""Prompts, generated texts, and figures of the work: speed, full batches, memory."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, cast

from pytest_fcall.backends.local.memory import peak_bytes
from pytest_fcall.core import Json, Tool
from pytest_fcall.core.json_fields import as_mapping, optional_field, required_field


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request as the model reads it."""

    text: str
    tools: tuple[Tool, ...] = ()
    """What a grammar is made of. The text tells them already."""
    settings: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Generated:
    """What the model wrote, its special tokens included where a decoder needs them."""

    text: str
    input_tokens: int
    output_tokens: int
    finish: Literal["stop", "length"] = "stop"
    seconds: float = 0.0
    engine: Mapping[str, Json] = field(default_factory=dict)
    """What held for this answer, beyond what the engine says of itself."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What one process has done since it was started."""

    loading: float
    """Seconds until the model could be asked."""
    size: int
    """The most prompts that a batch may have."""
    busy: float = 0.0
    """Seconds in which it had something to do."""
    held: float = 0.0
    """The seconds that its places were taken, added up."""
    prompts: int = 0
    tokens: int = 0
    """Those that were written."""
    peak: int = 0
    """Bytes of memory."""
    note: str = ""

    def to_data(self) -> dict[str, Json]:
        """Say it in JSON values."""
        return cast("dict[str, Json]", asdict(self))

    def text(self) -> str:
        """One line for people."""
        parts = [
            f"{self.tokens / max(self.busy, 0.001):,.0f} tokens a second",
            f"batches {100 * self.held / max(self.busy * self.size, 0.001):.0f} % full",
            f"{self.peak / 1e9:.1f} GB at most",
            f"loaded in {self.loading:.1f} s",
        ]
        return ", ".join([*parts, *filter(None, [self.note])])


def figures_from_data(data: Json) -> Figures:
    """Read what `to_data` wrote. Raises Damaged."""
    fields = as_mapping(data, "the figures")
    return Figures(
        loading=required_field(fields, "loading", float),
        size=required_field(fields, "size", int),
        busy=required_field(fields, "busy", float),
        held=required_field(fields, "held", float),
        prompts=required_field(fields, "prompts", int),
        tokens=required_field(fields, "tokens", int),
        peak=required_field(fields, "peak", int),
        note=optional_field(fields, "note", str) or "",
    )


class Tally:
    """Counts what a feeder does."""

    def __init__(self) -> None:
        self._busy = 0.0
        self._held = 0.0
        self._prompts = 0
        self._tokens = 0

    def add(self, generated: Sequence[Generated], seconds: float, held: float) -> None:
        """Count what was written in so many more seconds, and how long its places were taken for it."""
        self._busy += seconds
        self._held += held
        self._prompts += len(generated)
        self._tokens += sum(each.output_tokens for each in generated)

    def figures(self, loading: float, size: int, note: str) -> Figures:
        """What was counted so far."""
        peak = peak_bytes(sys.modules.get("torch"))
        return Figures(loading, size, self._busy, self._held, self._prompts, self._tokens, peak, note)
