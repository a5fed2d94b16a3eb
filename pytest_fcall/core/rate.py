"""Right answers among all."""

from __future__ import annotations

from typing import NamedTuple


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
