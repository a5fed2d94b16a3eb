"""Asks a model on this machine, in a process that all workers share."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pytest_fcall.backends.local.connection import Connection, connected
from pytest_fcall.backends.local.order import Order
from pytest_fcall.backends.local.settings import left_out
from pytest_fcall.backends.shared.launching import Launcher, users_folder
from pytest_fcall.core import Json, Model, Reply, Request

_PROCESS = "pytest_fcall.backends.local.process"


class LocalBackend:
    """Holds no model itself. The process is started, or found, with the first request.

    `settings` are what shapes the answer. Processes are found through files in `folder`.
    """

    reusable = True
    ahead = True

    def __init__(self, model: Model, order: Order, settings: Mapping[str, Json], folder: Path | None = None) -> None:
        self.settings = settings
        self._model = model
        self._order = order
        self._launcher = Launcher(_PROCESS, order.to_data(), folder or users_folder())
        self._connecting: asyncio.Task[Connection] | None = None

    def changes(self, request: Request) -> list[str]:
        """What of a request's settings the model is not told."""
        return left_out(self.settings, request.settings)

    def prompt(self, request: Request) -> str:
        """What the model would be told; its tokenizer is loaded. Raises ModelUnavailable, CaseRefused."""
        from pytest_fcall.backends.local.wording import wording

        return wording(self._order.options).text(request)

    def figures(self) -> tuple[int, str] | None:
        """How many prompts the process has gone on with, for whomever, and how fast."""
        connecting = self._connecting
        if connecting is None or not connecting.done() or connecting.cancelled() or connecting.exception():
            return None
        figures = connecting.result().figures
        return (figures.prompts, figures.text()) if figures else None

    async def complete(self, request: Request) -> Reply:
        """Answer `request`; its time is that of its batch in the engine."""
        connection = await self._connected()
        return await connection.ask(request)

    async def close(self) -> None:
        """Leave the process, which ends with its last client."""
        if self._connecting is not None:
            with suppress(Exception):
                await (await self._connecting).close()

    async def _connected(self) -> Connection:
        """The one connection. One that has failed or ended is made anew for whoever asks next."""
        if self._connecting is None or _is_over(self._connecting):
            self._connecting = asyncio.create_task(connected(self._model.id, self._launcher))
        return await asyncio.shield(self._connecting)


def _is_over(connecting: asyncio.Task[Connection]) -> bool:
    if not connecting.done():
        return False
    return connecting.cancelled() or connecting.exception() is not None or connecting.result().ended
