"""An HTTP server on a socket that listens already."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from socket import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiohttp import web

_BACKLOG = 1024
_FAREWELL = 0.1
"""Seconds for what is under way when it ends."""


@asynccontextmanager
async def served(
    listening: socket, path: str, answer: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> AsyncIterator[None]:
    """Have `answer` answer all requests to `path`, a pattern, whatever their method; bodies may have any size."""
    from aiohttp import web

    application = web.Application(client_max_size=0)
    application.router.add_route("*", path, answer)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=_FAREWELL)
    await runner.setup()
    try:
        await web.SockSite(runner, listening, backlog=_BACKLOG).start()
        yield
    finally:
        await runner.cleanup()
