"""Writes replies that arrive together in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeAlias, TypeVar

from pytest_fcall.backends.dispatch.job import Job
from pytest_fcall.core import Reply

_GATHER_SECONDS = 0.005
"""Seconds that replies wait for others to be handed on with."""

Arrival: TypeAlias = tuple[Job, Reply]
T = TypeVar("T")


class GroupWriter(Generic[T]):
    """Hands on together what arrives at about the same time: to keep many costs little more than to keep one.

    Where `on_replies` raises over several, each is handed on alone, so that none suffers for another.
    """

    def __init__(self, on_replies: Callable[[Sequence[T]], object], gathering: float = _GATHER_SECONDS) -> None:
        self._on_replies = on_replies
        self._gathering = gathering
        self._waiting: list[tuple[T, asyncio.Future[None]]] = []

    async def hand_on(self, arrival: T) -> None:
        """Return once `on_replies` has the reply; raise what it raises. It gets what is cancelled meanwhile, too."""
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_later(self._gathering, self.hand_on_all)
        handed_on = loop.create_future()
        self._waiting.append((arrival, handed_on))
        await handed_on

    def hand_on_all(self) -> None:
        """Hand on what waits."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        failed = self._failure([arrival for arrival, _ in waiting])
        for arrival, handed_on in waiting:
            error = self._failure([arrival]) if failed and len(waiting) > 1 else failed
            if handed_on.cancelled():
                continue
            if error:
                handed_on.set_exception(error)
            else:
                handed_on.set_result(None)

    def _failure(self, arrivals: Sequence[T]) -> BaseException | None:
        try:
            self._on_replies(arrivals)
        except BaseException as error:
            return error
        return None
