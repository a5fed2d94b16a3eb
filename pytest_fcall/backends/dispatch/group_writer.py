"""Writes items that arrive at about the same time in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

_GATHER_SECONDS = 0.005
"""Seconds that an item waits for others to be written with."""

T = TypeVar("T")


class GroupWriter(Generic[T]):
    """Collects items for a moment and writes them together, because writing many costs little more than writing one.

    If `write_all` raises for several items, each is written alone, so that one bad item does not harm the others.
    """

    def __init__(self, write_all: Callable[[Sequence[T]], object], gather_seconds: float = _GATHER_SECONDS) -> None:
        self._write_all = write_all
        self._gather_seconds = gather_seconds
        self._waiting: list[tuple[T, asyncio.Future[None]]] = []

    async def write(self, item: T) -> None:
        """Write the item, and return afterwards; raise the writing error. An item is written even if cancelled."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_later(self._gather_seconds, self.flush)
        written = loop.create_future()
        self._waiting.append((item, written))
        await written

    def flush(self) -> None:
        """Write all waiting items now."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        group_error = self._error_of([item for item, _ in waiting])
        for item, written in waiting:
            error = self._error_of([item]) if group_error and len(waiting) > 1 else group_error
            if written.cancelled():
                continue
            if error:
                written.set_exception(error)
            else:
                written.set_result(None)

    def _error_of(self, items: Sequence[T]) -> BaseException | None:
        try:
            self._write_all(items)
        except BaseException as error:  # the caller that waits for one of the items raises it again
            return error
        return None
