"""What stands on two sides, paired by what it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class Sides(Generic[T]):
    """The things on both sides that nothing is said of yet."""

    def __init__(self, old: Sequence[T], new: Sequence[T]) -> None:
        self._things = old, new
        self.old = dict.fromkeys(range(len(old)))
        self.new = dict.fromkeys(range(len(new)))

    def take(self, name: Callable[[T], str]) -> Iterator[tuple[int, int]]:
        """Pair those of the same name in order, and take them away."""
        waiting: dict[str, list[int]] = {}
        for was in reversed(self.old):
            waiting.setdefault(name(self._things[0][was]), []).append(was)
        for now in list(self.new):
            if found := waiting.get(name(self._things[1][now])):
                was = found.pop()
                del self.old[was], self.new[now]
                yield was, now
