"""How often models make each kind of mistake."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from types import MappingProxyType
from typing import Final

SEEN: Final[Mapping[str, int]] = MappingProxyType(
    {
        "call dropped": 3772,
        "call instead of answer": 3394,
        "answer instead of call": 1406,
        "argument dropped": 722,
        "type changed": 704,
        "text replaced": 681,
        "text longer": 587,
        "number changed": 499,
        "text shorter": 298,
        "unit changed": 287,
        "date changed": 267,
        "call added": 227,
        "boolean flipped": 183,
        "nesting changed": 151,
        "neighbour tool": 146,
        "enum member": 141,
        "list item added": 130,
        "argument added": 124,
        "null given": 73,
        "list item dropped": 70,
        "argument invented": 66,
        "argument renamed": 45,
        "text spelled otherwise": 40,
        "tool invented": 34,
        "call doubled": 33,
        "arguments swapped": 16,
        "id changed": 9,
        "list order": 9,
        "sign changed": 6,
    }
)
"""Of the wrong answers of 38 models to BFCL's single questions, those that have each kind of mistake.

tests/conformance/test_strength_weights.py counts them again.
"""

_UNSEEN: Final = median(SEEN.values())
"""The weight of what single questions cannot show: order, conversations, forbidden calls, texts."""


def weight(mistake: str) -> float:
    """How much a kind of mistake counts beside others."""
    return float(SEEN.get(mistake, _UNSEEN))
