"""The same cases in two runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Rate(NamedTuple):
    """How many of the answers to a case were right. A case that was asked once has 0 or 1 of 1."""

    right: int
    asked: int

    @property
    def share(self) -> float:
        """The part that was right."""
        return self.right / self.asked


@dataclass(frozen=True, slots=True)
class Pair:
    """A case before and now, asked at least once each time."""

    before: Rate
    now: Rate

    @property
    def difference(self) -> float:
        """By how much the case got better, from -1 to 1."""
        return self.now.share - self.before.share
