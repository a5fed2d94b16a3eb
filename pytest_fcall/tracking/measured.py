"""What gates are judged by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_fcall.tracking.pairs import Pair


@dataclass(frozen=True, slots=True)
class Told:
    """A score of a group of cases, from 0 to 1; None where there is nothing that it could be made of."""

    value: float | None
    missing: int = 0
    """Cases without a reply among those that it is made of."""
    lacking: str = ""
    """Why it has no value."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a group of cases came to. What nobody measured is None, never zero."""

    answered: int = 0
    right: int = 0
    missing: int = 0
    """Cases without a reply, which say nothing of the model: nobody could be reached, or none is recorded."""
    malformed: int = 0
    cost: float | None = None
    """In US dollars, as far as it is known."""
    unpriced: int = 0
    """Answers whose cost is not known."""
    p50: float | None = None
    p95: float | None = None
    slowest: float | None = None
    """In seconds."""
    regressions: int = 0
    fixed: int = 0
    flaky: int = 0
    """Cases to which some answers were right, and others were not."""
    pairs: tuple[Pair, ...] = ()
    """The cases that have an accepted answer, before and now."""
    scores: Mapping[str, Told] = field(default_factory=dict)
    """Those that are beside verdicts, and those of suites, by name."""
