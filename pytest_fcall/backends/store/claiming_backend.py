"""A backend that sends a request only if no other process of the run is sending it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from pytest_fcall.backends.store import ReplyStore, StoreError
from pytest_fcall.backends.wrapper import BackendWrapper
from pytest_fcall.core import Reply, Request, request_digest

_PAUSE = 0.05
"""Seconds until a process that waits looks again."""


@dataclass(frozen=True, slots=True)
class ClaimingBackend(BackendWrapper):
    """Asks `backend` for what nobody else is asking for. Whoever gets the reply keeps it, which ends the claim.

    A reply that was kept `since` then may stand for a new one.
    """

    model: str
    store: ReplyStore
    since: float
    owner: str
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep

    async def complete(self, request: Request) -> Reply:
        """Answer by the back end, or by the reply that another process got."""
        digest = request_digest(self.model, request)
        while not self.store.claim(digest, self.owner):
            await self.pause(_PAUSE)
        # Somebody may have asked and kept the reply before the claim was ours.
        if found := self.store.find(digest, self.since):
            self._release(digest)
            return found.reply
        try:
            return await self.backend.complete(request)
        except BaseException:
            self._release(digest)
            raise

    def _release(self, digest: str) -> None:
        """Let others ask. Where that cannot be said, the claim ends with this process."""
        with suppress(StoreError):
            self.store.release(digest, self.owner)
