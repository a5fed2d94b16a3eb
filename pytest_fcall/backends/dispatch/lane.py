"""The requests to one model."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from pytest_fcall.backends.dispatch.pace import Pace


@dataclass(slots=True, eq=False)
class Turn:
    """A request that waits until it may be sent."""

    tokens: int
    come: asyncio.Future[float]
    """The time at which it was let through, in seconds since 1970."""


class Lane:
    """What the requests to one model share. Lives in the event loop."""

    def __init__(self, model: str, most: int) -> None:
        self.model = model
        self.pace = Pace(most)
        self.waiting: deque[Turn] = deque()
        self.running = 0
        self.answers = 0
        """Requests that the model took, whatever came of them."""
        self.alarmed = False
        """Whether nothing may be sent before a time for which an alarm is set."""
        self.gave_up = False
        """Whether a request was asked as often as may be, without an answer."""
        self._why_stopped: Callable[[], Exception] | None = None
        self._resting: set[asyncio.Future[None]] = set()

    @property
    def may_send(self) -> bool:
        """Whether one more may be sent, as far as the model's pace goes."""
        return not self.alarmed and self.running < self.pace.allowed

    @property
    def in_vain(self) -> bool:
        """Whether nobody seems to be there: then one try is enough for each request."""
        return self.gave_up and not self.answers

    def next(self) -> Turn | None:
        """Return the first request in the line that still wants to be sent."""
        while self.waiting and self.waiting[0].come.done():
            self.waiting.popleft()
        return self.waiting[0] if self.waiting else None

    def answered(self) -> None:
        """The model took a request."""
        self.answers += 1
        self.pace.answered()

    def stop(self, why: Callable[[], Exception]) -> None:
        """Fail all that waits, and all that will: `why` makes the error of each."""
        self._why_stopped = why
        for turn in self.waiting:
            if not turn.come.done():
                turn.come.set_exception(why())
        for over in self._resting:
            if not over.done():
                over.set_exception(why())

    def check(self) -> None:
        """Raise why nothing can be sent any more, if it is so."""
        if self._why_stopped:
            raise self._why_stopped()

    async def rest(self, seconds: float, call_later: Callable[[float, Callable[[], object]], object]) -> None:
        """Wait so long, or until the lane stops."""
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._resting.add(over)
        call_later(seconds, lambda: None if over.done() else over.set_result(None))
        try:
            await over
        finally:
            self._resting.discard(over)
