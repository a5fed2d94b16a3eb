"""The HTTP client of `openai:NAME`, over aiohttp: it sends what the openai library does in a fraction of the time."""

from __future__ import annotations

import asyncio
import os
import ssl
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from http import HTTPStatus
from io import BytesIO
from urllib.parse import parse_qsl, urlencode, urlsplit

import aiohttp
from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from aiohttp.http_exceptions import ContentEncodingError
from multidict import CIMultiDict
from yarl import URL

from pytest_fcall.backends.http_answers import (
    ACCEPTED_ENCODINGS,
    MOST_REDIRECTS,
    WITHOUT_BODY,
    RedirectError,
    TooLong,
    UnreadableBody,
    redirect_target,
    whole_body,
)
from pytest_fcall.backends.openai.environment_proxy import EnvironmentProxy, environment_proxy
from pytest_fcall.backends.openai.server_answer import ServerAnswer
from pytest_fcall.backends.provider_failures import (
    LOST_BY_REDIRECT,
    NO_CONNECTION,
    TOO_LONG,
    UNUSABLE_PROXY,
    ProviderFailure,
)

_PLAIN_HEADERS: Mapping[str, str] = {
    "Accept": "application/json",
    "User-Agent": "pytest-fcall",
    "Content-Type": "application/json",
}
"""The headers of every request."""
CONNECT_SECONDS = 15.0
"""The time limit for a connection; the answer has that of the request."""
BROKEN_COMPRESSION = ProviderFailure("the answer is compressed and cannot be decompressed", billable=True)
_IDLE_SECONDS = 5.0
"""Many servers close connections that have been idle for longer."""
_LARGE = 2**20
"""Bytes above which a body is sent in pieces, so that other requests do not wait."""


class ServerClient:
    """Sends requests to one server, with an HttpSender for each event loop."""

    def __init__(self, url: str, key: str, headers: Mapping[str, str]) -> None:
        self._url = url
        self._key = key
        self._headers = headers
        self._senders: dict[asyncio.AbstractEventLoop, HttpSender] = {}

    def open(self) -> None:
        """Prepare the current event loop."""
        self._sender()

    async def post(
        self, path: str, body: bytes, headers: Mapping[str, str], timeout: float
    ) -> ServerAnswer | ProviderFailure:
        """Send `body` to `path`. A broken connection or a timeout is returned as a failure."""
        try:
            async with asyncio.timeout(timeout):
                return await self._sender().send(path, body, headers)
        except TimeoutError:
            return ProviderFailure(f"no answer came within {timeout:g} s", codes=frozenset({"timeout"}), billable=True)

    async def close(self) -> None:
        """Close all connections. Those of a closed event loop are gone already."""
        while self._senders:
            _, sender = self._senders.popitem()
            with suppress(RuntimeError):
                await sender.close()

    def _sender(self) -> HttpSender:
        loop = asyncio.get_running_loop()
        if (sender := self._senders.get(loop)) is None:
            sender = self._senders[loop] = HttpSender(self._url, self._key, self._headers)
        return sender


class HttpSender:
    """Sends requests of one event loop to one server, also where that redirects, through the environment's proxies.

    It keeps no cookies, and sends nothing to another server.
    """

    def __init__(self, url: str, key: str, headers: Mapping[str, str]) -> None:
        address = urlsplit(url)
        query = dict(parse_qsl(address.query))
        self._base = address._replace(path=address.path.removesuffix("/"), query="", fragment="").geturl()
        self._query = f"?{urlencode(query)}" if query else ""
        ours = {**_PLAIN_HEADERS, "Authorization": f"Bearer {key}", "Accept-Encoding": ACCEPTED_ENCODINGS}
        self._headers = joined_headers(ours, headers, {"Content-Type": _PLAIN_HEADERS["Content-Type"]})
        self._connections = Connections(self._base)

    async def send(self, path: str, body: bytes, headers: Mapping[str, str]) -> ServerAnswer | ProviderFailure:
        """Send `body` to `path`. A broken connection is returned as a failure."""
        request = _HttpRequest(URL(f"{self._base}{path}{self._query}"), joined_headers(self._headers, headers), body)
        for _ in range(MOST_REDIRECTS + 1):
            answer = await self._exchange(request)
            if isinstance(answer, ProviderFailure) or not answer.redirects:
                return answer
            try:
                request = request.redirected(answer)
            except RedirectError as error:
                return _lost(str(error))
        return _lost(f"there are more than {MOST_REDIRECTS} redirects in a row")

    async def close(self) -> None:
        """Close all connections."""
        await self._connections.close()

    async def _exchange(self, request: _HttpRequest) -> ServerAnswer | ProviderFailure:
        method = "GET" if request.body is None else "POST"
        try:
            async with self._connections.exchange(method, request.url, request.headers, request.body) as response:
                content = await whole_body(response)
        except UnusableProxy as error:
            return ProviderFailure(str(error), codes=frozenset({UNUSABLE_PROXY}))
        except TooLong as error:
            return ProviderFailure(f"it {error}", codes=frozenset({TOO_LONG}))
        except UnreadableBody as error:
            return ProviderFailure(f"the answer {error}", billable=response.status < HTTPStatus.BAD_REQUEST)
        except (ClientError, OSError) as error:  # it holds the key, so it does not leave this function
            return connection_failure(error)
        return ServerAnswer(response.status, content, response.headers)


@dataclass(frozen=True, slots=True)
class _HttpRequest:
    """A POST of `body`, or a GET without one."""

    url: URL
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None

    def redirected(self, answer: ServerAnswer) -> _HttpRequest:
        """The request to the address that an answer names. Raises RedirectError if nothing may be sent there."""
        url = redirect_target(self.url, answer.headers["location"])
        return replace(self, url=url, body=None if answer.status in WITHOUT_BODY else self.body)


def _lost(reason: str) -> ProviderFailure:
    return ProviderFailure(reason, codes=frozenset({LOST_BY_REDIRECT}))


class UnusableProxy(Exception):
    """The environment names no HTTP proxy where it names one."""


Sent = bytes | AsyncIterator[bytes] | None


class Connections:
    """Connections to the server of this address. No redirect is followed, and no body decompressed."""

    def __init__(self, url: str) -> None:
        self._url = url
        # The session has no headers of its own: aiohttp would send those to proxies, too.
        self._session = ClientSession(
            connector=TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS),
            timeout=ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            cookie_jar=DummyCookieJar(),
            auto_decompress=False,
        )

    @asynccontextmanager
    async def exchange(
        self, method: str, url: URL, headers: Mapping[str, str], body: Sent
    ) -> AsyncIterator[ClientResponse]:
        """Send a request, and give the answer.

        Raises UnusableProxy, and what aiohttp raises.
        """
        try:
            proxy = self._proxy
        except ValueError as error:
            raise UnusableProxy(str(error)) from None
        if proxy and url.scheme == "http":  # the server's request is the proxy's, too
            headers = joined_headers(headers, proxy.headers)
        is_encrypted = "https" in (url.scheme, proxy and proxy.scheme)
        async with self._session.request(
            method,
            url,
            data=BytesIO(body) if isinstance(body, bytes) and len(body) >= _LARGE else body,
            headers=headers,
            allow_redirects=False,
            proxy=proxy.url if proxy else None,
            proxy_headers=proxy.headers if proxy else None,
            ssl=self._trusted_certificates if is_encrypted else True,
        ) as response:
            yield response

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    @cached_property
    def _proxy(self) -> EnvironmentProxy | None:
        """The proxy for the server. Raises ValueError if the environment names none that can be used."""
        return environment_proxy(str(URL(self._url).origin()))

    @cached_property
    def _trusted_certificates(self) -> ssl.SSLContext:
        """The certificates that the variables `SSL_CERT_FILE` and `SSL_CERT_DIR` name, else the system's."""
        if sys.platform in ("darwin", "win32") and not {"SSL_CERT_FILE", "SSL_CERT_DIR"} & os.environ.keys():
            from truststore import SSLContext as SystemContext

            return SystemContext(ssl.PROTOCOL_TLS_CLIENT)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_default_certs()
        return context


def joined_headers(*headers: Mapping[str, str]) -> CIMultiDict[str]:
    """The headers of all; one takes the place of those before it that differ in nothing but capitals."""
    joined: CIMultiDict[str] = CIMultiDict()
    for each in headers:
        joined.update(CIMultiDict(each))
    return joined


def connection_failure(error: BaseException) -> ProviderFailure:
    """Describe why there is no whole answer. Libraries wrap each other's errors; the innermost known one counts."""
    match error:
        case aiohttp.ClientProxyConnectionError():
            reason = "" if isinstance(error.os_error, ConnectionRefusedError) else error.os_error.strerror
            return _no_connection(f"no connection to the proxy: {reason or 'it refuses'}")
        case aiohttp.ClientHttpProxyError(status=HTTPStatus.PROXY_AUTHENTICATION_REQUIRED):
            return ProviderFailure(error.message, error.status)
        case aiohttp.ClientHttpProxyError():
            return ProviderFailure(f"the proxy does not connect to the server (HTTP {error.status})")
    return _innermost_failure(error) or ProviderFailure(f"the connection failed ({type(error).__name__})")


def _innermost_failure(error: BaseException) -> ProviderFailure | None:
    for cause in reversed([*_causes(error)]):
        match cause:
            case ssl.SSLCertVerificationError():
                return ProviderFailure(cause.verify_message, codes=frozenset({"untrusted_certificate"}))
            case ContentEncodingError():
                return BROKEN_COMPRESSION
            case aiohttp.ClientPayloadError():
                return ProviderFailure("the answer broke off in the middle", billable=True)
            case aiohttp.ServerDisconnectedError() | ConnectionResetError() | BrokenPipeError():
                return ProviderFailure("the server closed the connection before it answered")
            case ConnectionRefusedError():
                return _no_connection("the connection was refused: is the server running?")
            case TimeoutError():
                return _no_connection(f"no connection within {CONNECT_SECONDS:g} s")
            case aiohttp.ClientConnectorError():
                return _no_connection(f"no connection: {cause.os_error.strerror or 'the server was not found'}")
            case aiohttp.ClientResponseError():
                return ProviderFailure("the answer is not HTTP")
    return None


def _no_connection(text: str) -> ProviderFailure:
    return ProviderFailure(text, codes=frozenset({NO_CONNECTION}))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error, and what it was raised from, from the outside in."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
