"""A backend that sends a request only if no other process of the run is sending it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from pytest_fcall.backends.store import ReplyStore, StoreError
from pytest_fcall.backends.wrapper import POLL_SECONDS, BackendWrapper
from pytest_fcall.core import Reply, Request


@dataclass(frozen=True, slots=True)
class ClaimingBackend(BackendWrapper):
    """Sends one request once it holds the claim to it. The claim ends when the reply is put into the store.

    A reply that another process stored after the time `since` is used instead of a new one.
    """

    digest: str
    """The key under which the reply is put into the store."""
    store: ReplyStore
    since: float
    owner: str
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep

    async def complete(self, request: Request) -> Reply:
        """Return the backend's reply, or the reply that another process received meanwhile."""
        while not self.store.claim(self.digest, self.owner):
            await self.sleep(POLL_SECONDS)
        # Another process may have stored the reply just before this one got the claim.
        if stored := self.store.find(self.digest, self.since):
            self._release()
            return stored.reply
        try:
            return await self.backend.complete(request)
        except BaseException:  # cancellation, too
            self._release()
            raise

    def _release(self) -> None:
        """Release the claim. If the store cannot be written, the claim ends with this process."""
        with suppress(StoreError):
            self.store.release(self.digest, self.owner)
