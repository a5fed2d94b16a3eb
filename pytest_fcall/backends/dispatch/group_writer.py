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

    If `write_all` raises for several items, each is written alone, so that one bad item does not harm the others. It is
    called in the event loop; where it waits for another machine (`remote`), in a thread, and what comes meanwhile is
    written together next.
    """

    def __init__(
        self,
        write_all: Callable[[Sequence[T]], object],
        gather_seconds: float = _GATHER_SECONDS,
        *,
        remote: bool = False,
    ) -> None:
        self._write_all = write_all
        self._gather_seconds = gather_seconds
        self._remote = remote
        self._waiting: list[tuple[T, asyncio.Future[None]]] = []
        self._under_way: asyncio.Task[None] | None = None
        """The work that a thread is writing."""

    async def write(self, item: T) -> None:
        """Write the item, and return afterwards; raise the writing error. An item is written even if cancelled."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_later(self._gather_seconds, self._start if self._remote else self.flush)
        written = loop.create_future()
        self._waiting.append((item, written))
        await written

    def flush(self) -> None:
        """Write all waiting items now."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            _tell(waiting, self._errors([item for item, _ in waiting]))

    def _start(self) -> None:
        if self._waiting and self._under_way is None:
            self._under_way = asyncio.get_running_loop().create_task(self._flush_in_thread())

    async def _flush_in_thread(self) -> None:
        try:
            while self._waiting:
                waiting, self._waiting = self._waiting, []
                _tell(waiting, await asyncio.to_thread(self._errors, [item for item, _ in waiting]))
        finally:
            self._under_way = None

    def _errors(self, items: Sequence[T]) -> Sequence[BaseException | None]:
        """Write the items; what came of each."""
        group_error = self._error_of(items)
        if group_error is None or len(items) == 1:
            return [group_error] * len(items)
        return [self._error_of([item]) for item in items]

    def _error_of(self, items: Sequence[T]) -> BaseException | None:
        try:
            self._write_all(items)
        except BaseException as error:  # the caller that waits for one of the items raises it again
            return error
        return None


def _tell(waiting: Sequence[tuple[T, asyncio.Future[None]]], errors: Sequence[BaseException | None]) -> None:
    for (_, written), error in zip(waiting, errors, strict=True):
        if written.cancelled():
            continue
        if error:
            written.set_exception(error)
        else:
            written.set_result(None)
