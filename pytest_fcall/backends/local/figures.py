"""How well a model does its work: speed, full batches, memory."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import cast

from pytest_fcall.backends.fields import as_mapping, optional, required
from pytest_fcall.backends.local.generation import Generated
from pytest_fcall.backends.local.memory import peak_bytes
from pytest_fcall.core import Json


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
        loading=required(fields, "loading", float),
        size=required(fields, "size", int),
        busy=required(fields, "busy", float),
        held=required(fields, "held", float),
        prompts=required(fields, "prompts", int),
        tokens=required(fields, "tokens", int),
        peak=required(fields, "peak", int),
        note=optional(fields, "note", str) or "",
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
