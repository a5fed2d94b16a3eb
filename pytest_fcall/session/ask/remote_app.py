"""Apps that are asked over the network, each request as a part of the case that it belongs to."""

from __future__ import annotations

import secrets
from asyncio import Lock
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field

from pytest_fcall.backends.wrapper import BackendWrapper, innermost
from pytest_fcall.core import AppExchange, Backend, Reply, Request
from pytest_fcall.session.ask.app_proxy import AppProxy
from pytest_fcall.session.ask.source import Question


@dataclass(slots=True)
class RemoteApp:
    """An app, and what it has asked itself, by the digests of the questions that it was asked."""

    backend: Backend
    proxying: AppProxy
    inside: dict[str, tuple[AppExchange, ...] | None] = field(default_factory=dict)
    closed: bool = False
    group: str = ""
    """Stands in its addresses for the one case that it works on; empty where it shares them with others."""
    by_hand: bool = False
    """Whether it was started before the run, which cannot give it addresses of its own."""
    _forwards: bool = True
    _turn: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        """Read what the app's back end says of it."""
        answering = innermost(self.backend)
        self._forwards = getattr(answering, "forwards_case", True)
        self.by_hand = getattr(answering, "started_by_hand", True)
        if self._forwards or not self.by_hand:
            self.group = secrets.token_hex(16)

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Wait for the turn, where an app does not say which case its own requests belong to."""
        if self._forwards:
            yield
            return
        async with self._turn, self.proxying.turn() if self.by_hand else nullcontext():
            yield


@dataclass(frozen=True, slots=True)
class CaseScopedApp(BackendWrapper):
    """Asks an app as `backend` does, for one question."""

    app: RemoteApp
    question: Question

    async def complete(self, request: Request) -> Reply:
        """Answer `request`. Raises what the app's back end raises, NotRecorded and StoreError."""
        async with self.app.at_work():
            with self.app.proxying.elsewhere(self.question, self.app) as inside:
                reply = await self.backend.complete(request)
        self.app.inside[self.question.digest] = None if inside is None else tuple(inside)
        return reply

    async def close(self) -> None:
        """Close the app's back end, unless another question's has."""
        if not self.app.closed:
            self.app.closed = True
            await self.backend.close()
