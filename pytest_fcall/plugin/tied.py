"""Apps that are asked over the network, each request as a part of the case that it belongs to."""

from __future__ import annotations

from asyncio import Lock
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field

from pytest_fcall.backends.before import Before
from pytest_fcall.core import Backend, Inner, Reply, Request
from pytest_fcall.plugin.proxying import Proxying
from pytest_fcall.plugin.sources import Question


@dataclass(slots=True)
class RemoteApp:
    """An app, and what it has asked itself, by the digests of the questions that it was asked."""

    backend: Backend
    proxying: Proxying
    inside: dict[str, tuple[Inner, ...] | None] = field(default_factory=dict)
    turn: Lock = field(default_factory=Lock)
    closed: bool = False

    def alone(self) -> AbstractAsyncContextManager[object]:
        """Wait for the turn, where an app does not say which case its own requests belong to."""
        return nullcontext() if getattr(self.backend, "forwards", True) else self.turn


@dataclass(frozen=True, slots=True)
class Tied(Before):
    """Asks an app as `backend` does, for one question."""

    app: RemoteApp
    question: Question

    async def complete(self, request: Request) -> Reply:
        """Answer `request`. Raises what the app's back end raises, NotRecorded and StoreError."""
        async with self.app.alone():
            with self.app.proxying.elsewhere(self.question) as inside:
                reply = await self.backend.complete(request)
        self.app.inside[self.question.digest] = None if inside is None else tuple(inside)
        return reply

    async def close(self) -> None:
        """Close the app's back end, unless another question's has."""
        if not self.app.closed:
            self.app.closed = True
            await self.backend.close()
