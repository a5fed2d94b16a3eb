"""Lengths of time as people type them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

_SECONDS: Mapping[str, int] = MappingProxyType({"m": 60, "h": 3_600, "d": 86_400, "w": 604_800})


def age_in_seconds(text: str) -> int:
    """Read `30m`, `12h`, `7d` or `2w`. Raises ValueError, in words, for anything else."""
    if found := re.fullmatch(r"([0-9]{1,5})([mhdw])", text):
        return int(found[1]) * _SECONDS[found[2]]
    raise ValueError(f"{text!r} is no age; write minutes, hours, days or weeks as 30m, 12h, 7d or 2w")
