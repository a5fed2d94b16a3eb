"""The few figures that a summary needs."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt

_Z = 1.959963984540054
"""Covers 95 % of a normal distribution."""


def wilson(right: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a rate: honest for few cases and for rates near 0 and 1."""
    if of == 0:
        return 0.0, 1.0
    rate = right / of
    middle = rate + _Z**2 / (2 * of)
    margin = _Z * sqrt(rate * (1 - rate) / of + _Z**2 / (4 * of**2))
    scale = 1 + _Z**2 / of
    return max((middle - margin) / scale, 0.0), min((middle + margin) / scale, 1.0)


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest of `values` (not empty) that at least `percent` % of them do not exceed."""
    return sorted(values)[max(ceil(len(values) * percent / 100) - 1, 0)]
