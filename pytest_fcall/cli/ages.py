"""Lengths of time as people type them."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Mapping
from types import MappingProxyType

_SECONDS: Mapping[str, int] = MappingProxyType({"h": 3_600, "d": 86_400, "w": 604_800})


def seconds(text: str) -> int:
    """Read `12h`, `30d` or `2w`; argparse tells of anything else."""
    found = re.fullmatch(r"([0-9]{1,5})([hdw])", text)
    if not found:
        raise ArgumentTypeError(f"{text!r} is no age: write 12h, 30d or 2w")
    return int(found[1]) * _SECONDS[found[2]]
