"""Sends HTTP requests to the allowed hosts, with aiohttp."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, DummyCookieJar
from yarl import URL

from pytest_fcall.conversation.environments.http_hosts import HostRefused, Hosts
from pytest_fcall.conversation.environments.http_request import HttpRequest
from pytest_fcall.conversation.execution.limits import Limits
from pytest_fcall.core import CallResult, Json, Unanswered
from pytest_fcall.schema.errors import SchemaError

_MOST_REDIRECTS: Final = 10
_KEEPS_METHOD: Final = frozenset({307, 308})
_REDIRECTS: Final = frozenset({301, 302, 303}) | _KEEPS_METHOD
_SHOWN: Final = 2_000
"""Characters of what a server says beside a failure."""


class HttpSender:
    """Sends the requests of one conversation. It keeps no cookies, and goes through no proxy that nobody named."""

    def __init__(self, hosts: Hosts, limits: Limits) -> None:
        self._hosts = hosts
        self._limits = limits
        self._session = ClientSession(
            cookie_jar=DummyCookieJar(),
            timeout=ClientTimeout(total=limits.seconds),
            auto_decompress=False,
            headers={"Accept": "application/json, */*;q=0.5", "Accept-Encoding": "identity"},
        )

    async def send(self, request: HttpRequest) -> CallResult:
        """Send a request, and follow where it is sent on. core.Unanswered where no server can be reached."""
        try:
            return await self._sent(request)
        except (HostRefused, SchemaError) as error:
            return CallResult(error=str(error))
        except TimeoutError:
            return CallResult(error=f"it took longer than {self._limits.seconds:g} s")
        except ValueError as error:  # an address or a header that the library does not take
            return CallResult(error=f"it cannot be sent: {error}")
        except (ClientError, OSError) as error:
            raise Unanswered(f"{request.method} {_without_query(request.url)} got no answer: {error}") from error

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def _sent(self, request: HttpRequest) -> CallResult:
        method, url, body, headers = request.method, URL(request.url), request.body, dict(request.headers)
        for _ in range(_MOST_REDIRECTS):
            self._hosts.check(url)
            ours = self._hosts.headers_for(url)
            data = None if body is None else body.encode("utf-8", "replace")
            async with self._session.request(
                method, url, data=data, headers=_joined(headers, ours), allow_redirects=False
            ) as response:
                location = response.headers.get("Location")
                if response.status not in _REDIRECTS or location is None:
                    return await self._read(response, ours)
            url = url.join(URL(location))
            if response.status not in _KEEPS_METHOD and method != "HEAD":
                method, body = "GET", None
                headers.pop("Content-Type", None)
        return CallResult(error=f"it was sent on more than {_MOST_REDIRECTS} times")

    async def _read(self, response: ClientResponse, ours: Mapping[str, str]) -> CallResult:
        most = self._limits.result
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            return CallResult(error="the server sent a compressed answer, which was not asked for")
        content = bytearray()
        async for piece in response.content.iter_chunked(1 << 16):
            content += piece
            if len(content) > most:
                return CallResult(error=f"the answer has more than {most:,} bytes")
        said = self._hosts.without_secrets(_decoded(bytes(content), response), ours)
        if response.status >= 400:
            return CallResult(error=f"HTTP {response.status} {response.reason}: {said[:_SHOWN]}".rstrip(": "))
        return CallResult(_value(said))


def _joined(headers: Mapping[str, str], ours: Mapping[str, str]) -> dict[str, str]:
    """All headers, ours before those that a call asks for."""
    names = {name.lower() for name in ours}
    return {**{name: value for name, value in headers.items() if name.lower() not in names}, **ours}


def _decoded(content: bytes, response: ClientResponse) -> str:
    try:
        return content.decode(response.charset or "utf-8", "replace")
    except LookupError:
        return content.decode("utf-8", "replace")


def _value(said: str) -> Json:
    """JSON as the value that it says, anything else as text, nothing as null."""
    if not said.strip():
        return None
    try:
        value: Json = json.loads(said, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return said
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _without_query(url: str) -> str:
    return url.partition("?")[0]
