"""How a run ends: its exit status."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pytest_fcall.tracking.gates import GateVerdict

Fail: TypeAlias = Literal["items", "gates", "both"]

WELL, FAILED, INCONCLUSIVE = 0, 1, 10


@dataclass(slots=True)
class Ending:
    """What decides beside the gates."""

    verdicts: bool = False
    """Whether a verdict failed its case."""
    forbidden: bool = False
    """Whether one of them found a forbidden call, which no gate excuses."""
    otherwise: bool = False
    """Whether anything else failed that more replies could not have changed."""
    unanswered: bool = False
    """Whether a case or test is in error for want of a reply."""

    def status(self, fail: Fail, gates: Iterable[GateVerdict]) -> int:
        """The exit status, where `fail` says whether failed cases, gates or both make a run fail."""
        held = {verdict.held for verdict in gates} if fail != "items" else set()
        if self.otherwise or self.forbidden or False in held or (self.verdicts and fail != "gates"):
            return FAILED
        return INCONCLUSIVE if self.unanswered or None in held else WELL
