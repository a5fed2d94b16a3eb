"""An HTTP server on a socket that listens already."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from logging import Logger, LogRecord
from socket import socket
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from pytest_fcall.backends.proxy.upstream import LONGEST_HEADER

_BACKLOG = 1024
_FAREWELL = 0.1
"""Seconds for what is under way when it ends."""


class Way(NamedTuple):
    """An address at the proxy, `/TOKEN/VARIABLE/PATH?QUERY`, as it was written."""

    token: str
    variable: str
    path: str
    """With the slash before it."""
    query: str

    def at(self, provider: str) -> str:
        """Where it leads at the host of a provider."""
        parts = urlsplit(provider)
        query = f"?{self.query}" if self.query else ""
        return f"{parts.scheme}://{parts.netloc}{self.path}{query}"


@asynccontextmanager
async def served(
    listening: socket, answer: Callable[[web.BaseRequest, Way], Awaitable[web.StreamResponse]]
) -> AsyncIterator[None]:
    """Have `answer` answer all requests to a `Way`, whatever their method; bodies may have any size, and are read."""
    loop = asyncio.get_running_loop()

    def received(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
        return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=0)

    async def answered(request: web.BaseRequest) -> web.StreamResponse:
        way = _way(request)
        if way is None:
            return web.Response(status=404)
        if request.headers.get("Expect", "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        try:
            await request.read()
        except ConnectionError:  # who asks has gone away in the middle of it
            return web.Response(status=400)
        return await answer(request, way)

    log = Logger(__name__)
    log.addFilter(_is_no_bad_request)
    # An application would look for a route in each request, where there is only one.
    server = web.Server(
        answered,
        request_factory=received,
        access_log=None,
        logger=log,
        max_line_size=LONGEST_HEADER,
        max_field_size=LONGEST_HEADER,
    )
    runner = web.ServerRunner(server, shutdown_timeout=_FAREWELL)
    await runner.setup()
    try:
        await web.SockSite(runner, listening, backlog=_BACKLOG).start()
        yield
    finally:
        await runner.cleanup()


def _is_no_bad_request(record: LogRecord) -> bool:
    """What is no HTTP is told to whoever sent it, and to nobody else."""
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


def _way(request: web.BaseRequest) -> Way | None:
    path, _, query = request.raw_path.partition("?")
    match path.split("/", 3):
        case ["", token, variable, rest]:
            return Way(token, variable, f"/{rest}", query)
    return None
