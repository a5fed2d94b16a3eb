"""HTTP on both sides of the proxy: the server for apps, the client for providers, and the proxy's own error answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import lru_cache
from http import HTTPStatus
from io import BytesIO
from logging import Logger, LogRecord
from socket import socket
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies

from aiohttp import ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector, web
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

UNKNOWN_CASE_HEADER = "x-fcall-unknown"
"""A header that says that nobody here knows the case of a request; another run may."""


def error_answer(text: str, *marks: str) -> web.Response:
    """An error that OpenAI's libraries and Anthropic's both can read, and that nobody tries again."""
    told = {"type": "error", "error": {"type": "invalid_request_error", "message": f"pytest-fcall: {text}"}}
    body = json.dumps(told).encode()
    headers = {"x-should-retry": "false", **dict.fromkeys(marks, "1")}
    return web.Response(status=HTTPStatus.BAD_REQUEST, body=body, headers=headers, content_type="application/json")


_HOP_BY_HOP = frozenset(
    [
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "http2-settings",
        "expect",
        "host",
        "content-length",
        "content-encoding",
        "accept-encoding",
    ]
)
"""Headers that are about one connection, not about what is said."""
_AUTOMATIC_HEADERS = ("Accept", "Content-Type", "User-Agent")
"""Headers that a client adds by itself, and that a proxy does not."""
_CONNECTING = 15.0
_LARGE = 2**20
"""Bytes that are better sent piece by piece, so that others are not kept waiting."""
LONGEST_HEADER = 65_536
"""Bytes. Keys may be long, and it is not for a proxy to say how long."""


def end_to_end_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers that are not about one connection."""
    return [(name, value) for name, value in headers if _is_end_to_end(name)]


def provider_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers that go on to a provider, and come back from it; ours do not."""
    return [(name, value) for name, value in headers if _is_end_to_end(name) and not _is_ours(name)]


@lru_cache(maxsize=512)  # the same few names come with each request
def _is_end_to_end(name: str) -> bool:
    return name.lower() not in _HOP_BY_HOP


@lru_cache(maxsize=512)
def _is_ours(name: str) -> bool:
    return name.lower().startswith("x-fcall-")


def new_client_session() -> ClientSession:
    """What asks providers. It takes as long as they take, and keeps no cookies."""
    return ClientSession(
        connector=TCPConnector(limit=0),
        timeout=ClientTimeout(total=None, sock_connect=_CONNECTING),
        cookie_jar=DummyCookieJar(),
        trust_env=bool(getproxies()),  # to look for them costs a thread for each request
        max_line_size=LONGEST_HEADER,
        max_field_size=LONGEST_HEADER,
    )


def forward(
    session: ClientSession,
    request: web.BaseRequest,
    url: str,
    content: bytes,
    headers: Iterable[tuple[str, str]] | None = None,
) -> AbstractAsyncContextManager[ClientResponse]:
    """Send a request on to `url`, with those of its headers that go on or with others."""
    return session.request(
        request.method,
        URL(url, encoded=True),
        data=BytesIO(content) if len(content) >= _LARGE else content or None,
        headers=provider_headers(request.headers.items()) if headers is None else headers,
        # None is the quick way, and what nearly all apps come to.
        skip_auto_headers=[name for name in _AUTOMATIC_HEADERS if name not in request.headers] or None,
        allow_redirects=False,
    )


_BACKLOG = 1024
_SHUTDOWN_SECONDS = 0.1
"""Seconds for what is under way when it ends."""


class ProxyAddress(NamedTuple):
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
async def http_server(
    listening: socket, answer: Callable[[web.BaseRequest, ProxyAddress], Awaitable[web.StreamResponse]]
) -> AsyncIterator[None]:
    """Have `answer` answer all requests to a `Way`, whatever their method; bodies may have any size, and are read."""
    loop = asyncio.get_running_loop()

    def received(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
        return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=0)

    async def answered(request: web.BaseRequest) -> web.StreamResponse:
        way = _proxy_address(request)
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
    runner = web.ServerRunner(server, shutdown_timeout=_SHUTDOWN_SECONDS)
    await runner.setup()
    try:
        await web.SockSite(runner, listening, backlog=_BACKLOG).start()
        yield
    finally:
        await runner.cleanup()


def _is_no_bad_request(record: LogRecord) -> bool:
    """What is no HTTP is told to whoever sent it, and to nobody else."""
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


def _proxy_address(request: web.BaseRequest) -> ProxyAddress | None:
    path, _, query = request.raw_path.partition("?")
    match path.split("/", 3):
        case ["", token, variable, rest]:
            return ProxyAddress(token, variable, f"/{rest}", query)
    return None
