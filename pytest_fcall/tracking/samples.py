"""Several answers to a case: how many must be right for it to pass."""

from __future__ import annotations

import re

from pytest_fcall.core.rate import Rate


def required_share(rule: str) -> float:
    """The share of right answers that a rule wants: `all`, `any` (0) or `rate>=0.8`. Raises ValueError."""
    if rule in ("all", "any"):
        return float(rule == "all")
    found = re.fullmatch(r"rate>=(0(\.[0-9]+)?|1(\.0+)?)", rule)
    if found is None or float(found[1]) == 0:
        raise ValueError(f"must be all, any or rate>=0.8, not {rule!r}")
    return float(found[1])


def passes(rule: str, rate: Rate) -> bool:
    """Whether a case passes with these answers. One at least must be right. Raises ValueError for no rule."""
    return rate.right > 0 and rate.share >= required_share(rule)
