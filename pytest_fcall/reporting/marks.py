"""The few characters that are not in every terminal's alphabet."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Marks:
    """What stands before a line, and where text was left out."""

    right: str
    wrong: str
    cut: str


UNICODE = Marks("✓", "✗", "…")
ASCII = Marks(".", "!", "...")
