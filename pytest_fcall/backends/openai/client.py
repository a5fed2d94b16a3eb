"""The HTTP client of `openai:NAME`, over aiohttp: it sends what the openai library does in a fraction of the time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, urlencode, urlsplit

from aiohttp import ClientError
from yarl import URL

from pytest_fcall.backends.failure_kinds import LOST_BY_REDIRECT, TOO_LONG, UNUSABLE_PROXY
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
from pytest_fcall.backends.openai.connections import Connections, UnusableProxy, connection_failure, joined_headers
from pytest_fcall.backends.openai.endpoint import ServerAnswer
from pytest_fcall.backends.provider_failures import ProviderFailure

_PLAIN_HEADERS: Mapping[str, str] = {
    "Accept": "application/json",
    "User-Agent": "pytest-fcall",
    "Content-Type": "application/json",
}
"""The headers of every request."""


class Client:
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
            return ProviderFailure(f"the answer {error}")
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
