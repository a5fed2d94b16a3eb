"""Durations as people write them, such as `7d`."""

from __future__ import annotations

import re

_SECONDS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_LONGEST_FIRST = (("days", 86_400), ("h", 3_600), ("min", 60))


def duration_in_seconds(text: str) -> int:
    """Read `30m`, `12h`, `7d` or `2w`. Raises ValueError with a message for the user for any other text."""
    if match := re.fullmatch(r"([0-9]{1,5})([mhdw])", text):
        return int(match[1]) * _SECONDS[match[2]]
    raise ValueError(f"{text!r} is not a duration; use minutes, hours, days or weeks, such as 30m, 12h, 7d or 2w")


def duration_text(seconds: int) -> str:
    """Write a duration that `duration_in_seconds` read, exactly: `7 days`, `24 h`, `30 min`."""
    unit, length = next((each for each in _LONGEST_FIRST if seconds >= 2 * each[1] and not seconds % each[1]), ("s", 1))
    return f"{seconds // length} {unit}"
