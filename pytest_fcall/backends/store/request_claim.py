"""A claim to a request: of all processes that want the reply, one asks, and the others wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from pytest_fcall.backends.store import ReplyStore, StoreError
from pytest_fcall.backends.wrapper import POLL_SECONDS
from pytest_fcall.core.reply import Reply

_LONGEST_PAUSE = 0.5
"""Seconds until who waits looks again: a server has many that do."""


@dataclass(frozen=True, slots=True)
class RequestClaim:
    """The claim of one request. It ends when the reply is put into the store.

    A reply that another process stored after the time `since` is used instead of a new one.
    """

    digest: str
    """The key under which the reply is put into the store."""
    store: ReplyStore
    since: float
    owner: str
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep

    async def reply(self) -> Reply | None:
        """Wait while another process asks. Return its reply; None where the request is now ours to send."""
        pause = POLL_SECONDS
        while True:
            ours, stored = await self.store.claim_or_find(self.digest, self.owner, self.since)
            if ours:
                break
            await self.sleep(pause)
            pause = min(1.5 * pause, _LONGEST_PAUSE)
        if stored is not None:
            self.release()
        return stored

    def release(self) -> None:
        """Let others ask. If the store cannot be written, the claim ends with this process."""
        with suppress(StoreError):
            self.store.release(self.digest, self.owner)
