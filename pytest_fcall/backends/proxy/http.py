"""HTTP on both sides of the proxy: the server for apps, the client for providers, and the proof between two proxies."""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import lru_cache
from http import HTTPStatus
from io import BytesIO
from logging import Logger, LogRecord
from math import inf
from socket import socket
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies

from aiohttp import (
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    TCPConnector,
    TraceConfig,
    web,
)
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from pytest_fcall.backends.http_answers import ACCEPTED_ENCODINGS, pieces_of

UNKNOWN_CASE_HEADER = "x-fcall-unknown"
"""Marks the answer to a request whose case this run does not know; another run may know it."""
LONGEST_HEADER = 65_536
"""Bytes. Keys may be long, and limiting them is not the task of a proxy."""

_NAMES_OTHERS = "connection"
"""This header names others that concern one connection only."""
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
"""Headers that concern one connection only."""
_AUTOMATIC_HEADERS = ("Accept", "Content-Type", "User-Agent")
"""Headers that aiohttp adds by itself, which a proxy must not."""
_AUTHORIZATION = "Authorization"
_CONNECT_SECONDS = 15.0
_LARGE = 2**20
"""Bytes above which a body is sent in pieces, so that other requests do not wait."""
_BACKLOG = 1024
_SHUTDOWN_SECONDS = 0.1
"""Seconds for requests under way when the server ends."""


class ProxyAddress(NamedTuple):
    """An address at the proxy, `/TOKEN/VARIABLE/PATH?QUERY`, as the app wrote it."""

    token: str
    variable: str
    path: str
    """With a leading slash."""
    query: str

    def at_provider(self, provider: str) -> str:
        """The same path and query at the host of a provider."""
        parts = urlsplit(provider)
        query = f"?{self.query}" if self.query else ""
        return f"{parts.scheme}://{parts.netloc}{self.path}{query}"


def error_answer(text: str, headers: Mapping[str, str] | None = None) -> web.Response:
    """An error that the libraries of OpenAI and Anthropic can read, and do not retry."""
    data = {"type": "error", "error": {"type": "invalid_request_error", "message": f"pytest-fcall: {text}"}}
    return web.Response(
        status=HTTPStatus.BAD_REQUEST,
        body=json.dumps(data).encode(),
        headers={"x-should-retry": "false", **(headers or {})},
        content_type="application/json",
    )


def end_to_end_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers that do not concern one connection only."""
    given = [*headers]
    lists = (value for name, value in given if name.lower() == _NAMES_OTHERS)
    named = {each.strip().lower() for value in lists for each in value.split(",")}
    return [(name, value) for name, value in given if _is_end_to_end(name) and name.lower() not in named]


def provider_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers that are forwarded to a provider and back: end-to-end headers other than ours."""
    return [(name, value) for name, value in end_to_end_headers(headers) if not _is_ours(name)]


@lru_cache(maxsize=512)  # the same few names come with each request
def _is_end_to_end(name: str) -> bool:
    return name.lower() not in _HOP_BY_HOP


@lru_cache(maxsize=512)
def _is_ours(name: str) -> bool:
    return name.lower().startswith("x-fcall-")


def new_client_session(
    connector: TCPConnector | None = None, traces: list[TraceConfig] | None = None, *, through_proxies: bool = True
) -> ClientSession:
    """The client for providers. It waits as long as the app does, and keeps no cookies."""
    return ClientSession(
        connector=connector or TCPConnector(limit=0),
        trace_configs=traces,
        timeout=ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
        cookie_jar=DummyCookieJar(),
        auto_decompress=False,
        trust_env=through_proxies and bool(getproxies()),  # looking for proxies costs a thread for each request
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
    """Forward a request to `url`, with the given headers or with its own `provider_headers`.

    A name and password in the address take the place of the header `Authorization`, as with httpx: they are those of
    a gateway, of which the app knows nothing.
    """
    target = URL(url, encoded=True)
    headers = provider_headers(request.headers.items()) if headers is None else headers
    if target.user is not None or target.password is not None:
        pair = b64encode(f"{target.user or ''}:{target.password or ''}".encode()).decode()
        others = ((name, value) for name, value in headers if name.lower() != _AUTHORIZATION.lower())
        target, headers = target.with_user(None), [*others, (_AUTHORIZATION, f"Basic {pair}")]
    return session.request(
        request.method,
        target,
        data=BytesIO(content) if len(content) >= _LARGE else content or None,
        headers=[*headers, ("Accept-Encoding", ACCEPTED_ENCODINGS)],
        # None is faster than an empty list, and nearly all apps send these headers.
        skip_auto_headers=[name for name in _AUTOMATIC_HEADERS if name not in request.headers] or None,
        allow_redirects=False,
    )


async def stream_on(
    request: web.BaseRequest, answer: ClientResponse, headers: list[tuple[str, str]]
) -> web.StreamResponse:
    """Stream an answer on to the client, with these headers. The client may have gone away."""
    response = web.StreamResponse(status=answer.status, headers=headers)
    with suppress(ConnectionError):
        await response.prepare(request)
    async for piece in pieces_of(answer, inf):
        with suppress(ConnectionError):
            await response.write(piece)
    with suppress(ConnectionError):
        await response.write_eof()
    return response


def break_off(request: web.BaseRequest) -> web.Response:
    """Break the connection: as without a proxy the app sees that, and its library may try again."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


@asynccontextmanager
async def http_server(
    listening: socket,
    answer: Callable[[web.BaseRequest, ProxyAddress], Awaitable[web.StreamResponse]],
    unread: Container[str] = (),
) -> AsyncIterator[None]:
    """Serve requests of any method and size to a ProxyAddress by `answer`, after their bodies have been read.

    `unread` names variables in whose requests `answer` reads the bodies itself.
    """
    loop = asyncio.get_running_loop()

    def new_request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
        return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=0)

    async def read_and_answer(request: web.BaseRequest) -> web.StreamResponse:
        address = _proxy_address(request)
        if address is None:
            return web.Response(status=404)
        if request.headers.get("Expect", "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        try:
            if address.variable not in unread:
                await request.read()
        except (ConnectionError, web.RequestPayloadError):  # the app has gone away, or packed the body wrongly
            return web.Response(status=400)
        return await answer(request, address)

    log = Logger(__name__)
    log.addFilter(_is_not_bad_request)
    # No web.Application: it would search a route for each request, where there is only one.
    server = web.Server(
        read_and_answer,
        request_factory=new_request,
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


def _is_not_bad_request(record: LogRecord) -> bool:
    """Invalid HTTP is answered with an error, and not logged."""
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


def _proxy_address(request: web.BaseRequest) -> ProxyAddress | None:
    path, _, query = request.raw_path.partition("?")
    match path.split("/", 3):
        case ["", token, variable, rest]:
            return ProxyAddress(token, variable, f"/{rest}", query)
    return None


PROVE = "prove"
"""Stands in place of a token in the address of a challenge."""
_PROOF_SECONDS = 5.0
_LONGEST_PROOF = 200
_CHALLENGE_BYTES = 16


class NotProven(ClientError):
    """The process that listens there does not know the token, or none listens any more."""


def proof(token: str, challenge: str) -> str:
    """The answer to a challenge, which only those can give who know the token."""
    return hmac.digest(token.encode(), f"pytest-fcall proxy {challenge}".encode(), "sha256").hex()


@asynccontextmanager
async def proven_session(base: str) -> AsyncIterator[ClientSession]:
    """A client with one connection, to the proxy at `base`, which has proven to be it. Raises NotProven.

    A request to the app's models holds prompts and keys. After `kill -9` the file with the address stays, and any user
    of the machine may listen there. So the token is not sent before the other side has shown that it knows it.
    """
    address, _, token = base.rpartition("/")
    challenge = secrets.token_hex(_CHALLENGE_BYTES)
    connections = TraceConfig()
    connections.on_connection_create_start.append(_OneConnection())
    connector = TCPConnector(limit=1)
    async with new_client_session(connector, [connections], through_proxies=False) as session:
        url = URL(f"{address}/{PROVE}/{challenge}/", encoded=True)
        try:
            async with session.get(url, timeout=ClientTimeout(_PROOF_SECONDS), allow_redirects=False) as answer:
                given = await answer.content.read(_LONGEST_PROOF)
        except (ClientError, OSError, TimeoutError) as error:
            raise NotProven(str(error)) from None
        if not hmac.compare_digest(given, proof(token, challenge).encode()):
            raise NotProven("it does not know the token")
        yield session


class _OneConnection:
    """Refuses a second connection: another program may have the port by then."""

    def __init__(self) -> None:
        self._opened = False

    async def __call__(self, *_: object) -> None:
        if self._opened:
            raise NotProven("the connection ended")
        self._opened = True
