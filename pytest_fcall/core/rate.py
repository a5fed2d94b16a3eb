"""Right answers among all, and the rules that say how many must be right."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

MOST_ANSWERS: Final = 10**12
"""Nobody asks a case so often: a larger number is damage."""


class Rate(NamedTuple):
    """The number of right answers, and of all. A case that was asked once has 0 or 1 of 1."""

    right: int
    asked: int

    @property
    def share(self) -> float:
        """The share of right answers."""
        return self.right / self.asked

    def plus(self, other: Rate) -> Rate:
        """These answers and those together."""
        return Rate(self.right + other.right, self.asked + other.asked)

    def minus(self, other: Rate) -> Rate:
        """These answers without those, which are some of them."""
        return Rate(self.right - other.right, self.asked - other.asked)


def required_share(rule: str) -> float:
    """The share of right answers that a rule wants: `all`, `any` (0) or `rate>=0.8`. Raises ValueError."""
    if rule in ("all", "any"):
        return float(rule == "all")
    found = re.fullmatch(r"rate>=(0(\.[0-9]+)?|1(\.0+)?)", rule)
    if found is None or float(found[1]) == 0:
        raise ValueError(f"must be all, any or rate>=0.8, not {rule!r}")
    return float(found[1])


def is_rule(text: str) -> bool:
    """Whether a text is such a rule."""
    try:
        required_share(text)
    except ValueError:
        return False
    return True


def passes(rule: str, rate: Rate) -> bool:
    """Whether a case passes with these answers. One at least must be right. Raises ValueError for no rule."""
    return rate.right > 0 and rate.share >= required_share(rule)
