"""The connections of one event loop to one server: by the environment's proxies and certificates, without cookies."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cached_property
from io import BytesIO
from ssl import PROTOCOL_TLS_CLIENT, SSLContext

from aiohttp import ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector
from multidict import CIMultiDict
from yarl import URL

from pytest_fcall.backends.openai.connection_failures import CONNECT_SECONDS
from pytest_fcall.backends.openai.environment_proxy import EnvironmentProxy, environment_proxy

_IDLE_SECONDS = 5.0
"""Many servers close connections that have been idle for longer."""
_LARGE = 2**20
"""Bytes above which a body is sent in pieces, so that other requests do not wait."""


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
    def _trusted_certificates(self) -> SSLContext:
        """The certificates that the variables `SSL_CERT_FILE` and `SSL_CERT_DIR` name, else the system's."""
        if sys.platform in ("darwin", "win32") and not {"SSL_CERT_FILE", "SSL_CERT_DIR"} & os.environ.keys():
            from truststore import SSLContext as SystemContext

            return SystemContext(PROTOCOL_TLS_CLIENT)
        context = SSLContext(PROTOCOL_TLS_CLIENT)
        context.load_default_certs()
        return context


def joined_headers(*headers: Mapping[str, str]) -> CIMultiDict[str]:
    """The headers of all; one takes the place of those before it that differ in nothing but capitals."""
    joined: CIMultiDict[str] = CIMultiDict()
    for each in headers:
        joined.update(CIMultiDict(each))
    return joined
