"""Hints beside a mismatch: what the case could say so that the value were right."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.place import is_list, is_number


def text_hint(expected: str, got: str) -> str:
    """A hint for different strings that are nearly the same; empty for others."""
    from pytest_fcall.matching.strings import near_miss

    return near_miss(expected, got)


def number_hint(expected: Pattern, got: Json) -> str:
    """A hint for numbers that differ by rounding only; empty for others."""
    try:
        near = is_number(expected) and is_number(got) and math.isclose(expected, got)
    except OverflowError:
        near = False
    return "`$approx` would accept it" if near else ""


def length_hint(expected: Sequence[Pattern], got: Json) -> str:
    """A hint for a list of the wrong length; empty for other values."""
    if is_list(got) and len(got) != len(expected):
        return f"its length is {len(got)}, not {len(expected)}"
    return ""
