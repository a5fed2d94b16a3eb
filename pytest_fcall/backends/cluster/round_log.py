"""The state of the requests of a round: which are answered, and which were under way when a process died."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

GROUPS: Final = (0, 32, 4, 1, 1)
"""How many rows are asked together that were under way in so many deaths; 0 for all. So a row that ends whatever asks
it is soon alone. One that was under way in as many deaths as there are numbers here is asked no more."""


class RoundLog:
    """Which rows are done, and how often the others were begun without ever being done. One for a cluster."""

    def __init__(self) -> None:
        self._done: set[str] = set()
        self._begun: Counter[str] = Counter()
        self.parts: list[str] = []
        """The parts that were written, in the order in which they came."""

    def deaths(self, digests: Iterable[str]) -> dict[str, int]:
        """The rows of these that are not done, with the number of times that each was begun."""
        return {digest: self._begun[digest] for digest in digests if digest not in self._done}

    def begin(self, digests: Iterable[str]) -> None:
        """Note that these rows are asked now. Until they are done, they may be what ends a process."""
        self._begun.update(digests)

    def add_part(self, name: str, digests: Iterable[str]) -> None:
        """Note a part that was written, and its rows as done."""
        if name not in self.parts[-1000:]:
            self.parts.append(name)
        for digest in digests:
            self._done.add(digest)
            self._begun.pop(digest, None)

    def parts_after(self, number: int) -> list[str]:
        """The parts behind the first ones."""
        return self.parts[number:]


def groups_of(deaths: dict[str, int]) -> tuple[list[Sequence[str]], list[str]]:
    """The groups in which rows are asked, one after the other, and the rows that are asked no more."""
    groups: list[Sequence[str]] = []
    for level, size in enumerate(GROUPS):
        rows = [digest for digest, number in deaths.items() if number == level]
        groups += [rows[at : at + (size or len(rows))] for at in range(0, len(rows), size or len(rows) or 1)]
    return groups, [digest for digest, number in deaths.items() if number >= len(GROUPS)]
