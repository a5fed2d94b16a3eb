"""Requests over aiohttp alone: the same bytes as the openai library sends, for a fraction of its time."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from ssl import SSLContext
from urllib.parse import parse_qsl, urlencode, urlsplit

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

from pytest_fcall.backends.openai.connection_failures import CONNECT_SECONDS, connection_failure
from pytest_fcall.backends.openai.server_answer import ServerAnswer
from pytest_fcall.backends.openai.settings import environment_headers
from pytest_fcall.backends.provider_failures import ProviderFailure

LONGEST_ANSWER = 2**28
"""Bytes after decompression. No model writes as much."""
_IDLE_SECONDS = 5.0
"""Many servers close connections that have been idle for longer."""
_LARGE = 2**20
"""Bytes above which a body is sent in pieces, so that other requests do not wait."""


class DirectSender:
    """Sends requests of one event loop to one server: no proxies, no redirects, no cookies."""

    def __init__(self, url: str, key: str) -> None:
        address = urlsplit(url)
        query = dict(parse_qsl(address.query))
        self._base = address._replace(path=address.path.removesuffix("/"), query="", fragment="").geturl()
        self._query = f"?{urlencode(query)}" if query else ""
        self._session = ClientSession(
            headers={"Accept": "application/json", "User-Agent": "pytest-fcall", "Authorization": f"Bearer {key}"},
            connector=TCPConnector(
                limit=0,
                keepalive_timeout=_IDLE_SECONDS,
                ssl=_trusted_certificates() if address.scheme == "https" else True,
            ),
            timeout=ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            cookie_jar=DummyCookieJar(),
        )
        self._session.headers.update(environment_headers())
        self._session.headers["Content-Type"] = "application/json"

    async def send(self, path: str, body: bytes, headers: Mapping[str, str]) -> ServerAnswer | ProviderFailure:
        """Send `body` to `path`. A broken connection is returned as a failure."""
        try:
            async with self._session.post(
                f"{self._base}{path}{self._query}",
                data=body if len(body) < _LARGE else BytesIO(body),
                headers=headers,
                allow_redirects=False,
            ) as response:
                content = await _content(response)
        except (ClientError, OSError) as error:  # it holds the key, so it does not leave this function
            return connection_failure(error)
        if content is None:
            return ProviderFailure(f"the answer has more than {LONGEST_ANSWER:,} bytes")
        return ServerAnswer(response.status, content, response.headers)

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()


def _trusted_certificates() -> SSLContext:
    """The certificates that the openai library trusts, on every system."""
    import httpx2

    return httpx2.create_ssl_context()


async def _content(response: ClientResponse) -> bytes | None:
    """The whole content of an answer; None for one that is too long."""
    content = bytearray()
    async for piece in response.content.iter_any():
        content += piece
        if len(content) > LONGEST_ANSWER:
            response.close()
            return None
    return bytes(content)
