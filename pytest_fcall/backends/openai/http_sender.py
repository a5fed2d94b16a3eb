"""Requests over aiohttp: the same bytes as the openai library sends, for a fraction of its time."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cached_property
from io import BytesIO
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from urllib.parse import parse_qsl, urlencode, urlsplit

from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from multidict import CIMultiDict
from yarl import URL

from pytest_fcall.backends.answer_body import ACCEPTED_ENCODINGS, TooLong, UnreadableBody, whole_body
from pytest_fcall.backends.failure_kinds import LOST_BY_REDIRECT, TOO_LONG, UNUSABLE_PROXY
from pytest_fcall.backends.openai.connection_failures import CONNECT_SECONDS, connection_failure
from pytest_fcall.backends.openai.environment_proxy import EnvironmentProxy, environment_proxy
from pytest_fcall.backends.openai.http_request import PLAIN_HEADERS, HttpRequest
from pytest_fcall.backends.openai.server_answer import ServerAnswer
from pytest_fcall.backends.provider_failures import ProviderFailure
from pytest_fcall.backends.redirects import MOST_REDIRECTS, RedirectError

_IDLE_SECONDS = 5.0
"""Many servers close connections that have been idle for longer."""
_LARGE = 2**20
"""Bytes above which a body is sent in pieces, so that other requests do not wait."""


class HttpSender:
    """Sends requests of one event loop to one server, also where that redirects, through the environment's proxies.

    It keeps no cookies, and sends nothing to another server.
    """

    def __init__(self, url: str, key: str, headers: Mapping[str, str]) -> None:
        address = urlsplit(url)
        query = dict(parse_qsl(address.query))
        self._base = address._replace(path=address.path.removesuffix("/"), query="", fragment="").geturl()
        self._query = f"?{urlencode(query)}" if query else ""
        ours = {**PLAIN_HEADERS, "Authorization": f"Bearer {key}", "Accept-Encoding": ACCEPTED_ENCODINGS}
        self._headers = _joined(ours, headers, {"Content-Type": PLAIN_HEADERS["Content-Type"]})
        # The session has no headers of its own: aiohttp would send those to proxies, too.
        self._session = ClientSession(
            connector=TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS),
            timeout=ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            cookie_jar=DummyCookieJar(),
            auto_decompress=False,
        )

    async def send(self, path: str, body: bytes, headers: Mapping[str, str]) -> ServerAnswer | ProviderFailure:
        """Send `body` to `path`. A broken connection is returned as a failure."""
        request = HttpRequest(URL(f"{self._base}{path}{self._query}"), _joined(self._headers, headers), body)
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
        await self._session.close()

    async def _exchange(self, request: HttpRequest) -> ServerAnswer | ProviderFailure:
        try:
            proxy = self._proxy
        except ValueError as error:
            return ProviderFailure(str(error), codes=frozenset({UNUSABLE_PROXY}))
        headers = request.headers
        if proxy and request.url.scheme == "http":  # the server's request is the proxy's, too
            headers = _joined(headers, proxy.headers)
        is_encrypted = "https" in (request.url.scheme, proxy and proxy.scheme)
        try:
            async with self._session.request(
                "GET" if request.body is None else "POST",
                request.url,
                data=BytesIO(request.body) if request.body and len(request.body) >= _LARGE else request.body,
                headers=headers,
                allow_redirects=False,
                proxy=proxy.url if proxy else None,
                proxy_headers=proxy.headers if proxy else None,
                ssl=self._trusted_certificates if is_encrypted else True,
            ) as response:
                content = await whole_body(response)
        except TooLong as error:
            return ProviderFailure(f"it {error}", codes=frozenset({TOO_LONG}))
        except UnreadableBody as error:
            return ProviderFailure(f"the answer {error}")
        except (ClientError, OSError) as error:  # it holds the key, so it does not leave this function
            return connection_failure(error)
        return ServerAnswer(response.status, content, response.headers)

    @cached_property
    def _proxy(self) -> EnvironmentProxy | None:
        """The proxy for the server. Raises ValueError if the environment names none that can be used."""
        return environment_proxy(str(URL(self._base).origin()))

    @cached_property
    def _trusted_certificates(self) -> SSLContext:
        """The certificates that the variables `SSL_CERT_FILE` and `SSL_CERT_DIR` name, else the system's."""
        if sys.platform in ("darwin", "win32") and not {"SSL_CERT_FILE", "SSL_CERT_DIR"} & os.environ.keys():
            from truststore import SSLContext as SystemContext

            return SystemContext(PROTOCOL_TLS_CLIENT)
        context = SSLContext(PROTOCOL_TLS_CLIENT)
        context.load_default_certs()
        return context


def _joined(*headers: Mapping[str, str]) -> CIMultiDict[str]:
    """The headers of all; one takes the place of those before it that differ in nothing but capitals."""
    joined: CIMultiDict[str] = CIMultiDict()
    for each in headers:
        joined.update(CIMultiDict(each))
    return joined


def _lost(reason: str) -> ProviderFailure:
    return ProviderFailure(reason, codes=frozenset({LOST_BY_REDIRECT}))
