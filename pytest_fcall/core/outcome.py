"""What a verdict means against the baseline."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """One word for what changed."""

    OK = "ok"
    NEW = "new"
    FIXED = "fixed"
    DRIFTED = "drifted"
    REGRESSED = "regressed"
    KNOWN_FAILURE = "known failure"
