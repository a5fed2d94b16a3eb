"""Keys of caches that compare objects by identity."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class IdentityKey(Generic[T]):
    """An object as a key of a cache: equal only to itself, and kept alive so that its id stays its own."""

    __slots__ = ("it",)

    def __init__(self, it: T) -> None:
        self.it = it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IdentityKey) and self.it is other.it

    def __hash__(self) -> int:
        return id(self.it)
