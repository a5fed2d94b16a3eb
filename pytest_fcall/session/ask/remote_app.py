"""Apps that are asked over the network, each request as a part of the case that it belongs to."""

from __future__ import annotations

import secrets
from asyncio import Lock
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass

from pytest_fcall.backends.wrapper import BackendWrapper, innermost
from pytest_fcall.core.backend import Backend
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.session.ask.app_proxy import AppProxy
from pytest_fcall.session.ask.types import AppTrace, Question


class RemoteApp:
    """An app, and what was seen of it."""

    def __init__(self, backend: Backend, proxy: AppProxy) -> None:
        self.backend = backend
        self.proxy = proxy
        self.traces: dict[str, AppTrace | None] = {}
        """The traces of it, by the digests of the questions that it was asked; None without a proxy."""
        app = innermost(backend)
        self._forwards = getattr(app, "forwards_case", True)
        self.by_hand = getattr(app, "started_by_hand", True)
        """Whether it was started before the run, which cannot give it addresses of its own."""
        self.group = secrets.token_hex(16) if self._forwards or not self.by_hand else ""
        """The part of its addresses that stands for the one case that it works on; empty where cases share them."""
        self._turn = Lock()

    @asynccontextmanager
    async def wait_for_turn(self) -> AsyncIterator[None]:
        """Wait for the turn, where the app does not forward the case that its own requests belong to."""
        if self._forwards:
            yield
            return
        async with self._turn, self.proxy.turn() if self.by_hand else nullcontext():
            yield


@dataclass(frozen=True, slots=True)
class CaseScopedApp(BackendWrapper):
    """Asks an app as `backend` does, for one question."""

    app: RemoteApp
    question: Question

    async def complete(self, request: Request) -> Reply:
        """Answer `request`. Raises what the app's backend raises, NotRecorded, AppOverBudget and StoreError."""
        async with self.app.wait_for_turn():
            with self.app.proxy.elsewhere(self.question, self.app) as active:
                reply = await self.backend.complete(request)
        reply = await self.app.proxy.with_spans_async(self.question, active, reply)
        self.app.traces[self.question.digest] = None if active is None else active.trace()
        return reply
