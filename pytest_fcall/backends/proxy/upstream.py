"""The providers behind the proxy."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from io import BytesIO
from urllib.request import getproxies

from aiohttp import ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector, web
from yarl import URL

_BETWEEN_TWO = frozenset(
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
_FOR_THE_APP_TO_SAY = ("Accept", "Content-Type", "User-Agent")
"""Headers that a client adds by itself, and that a proxy does not."""
_CONNECTING = 15.0
_LARGE = 2**20
"""Bytes that are better sent piece by piece, so that others are not kept waiting."""
LONGEST_HEADER = 65_536
"""Bytes. Keys may be long, and it is not for a proxy to say how long."""


def relayed(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers that are not about one connection."""
    return [(name, value) for name, value in headers if _goes_far(name)]


def passed_on(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers that go on to a provider, and come back from it; ours do not."""
    return [(name, value) for name, value in headers if _goes_far(name) and not _is_ours(name)]


@lru_cache(maxsize=512)  # the same few names come with each request
def _goes_far(name: str) -> bool:
    return name.lower() not in _BETWEEN_TWO


@lru_cache(maxsize=512)
def _is_ours(name: str) -> bool:
    return name.lower().startswith("x-fcall-")


def new_session() -> ClientSession:
    """What asks providers. It takes as long as they take, and keeps no cookies."""
    return ClientSession(
        connector=TCPConnector(limit=0),
        timeout=ClientTimeout(total=None, sock_connect=_CONNECTING),
        cookie_jar=DummyCookieJar(),
        trust_env=bool(getproxies()),  # to look for them costs a thread for each request
        max_line_size=LONGEST_HEADER,
        max_field_size=LONGEST_HEADER,
    )


def asking(
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
        headers=passed_on(request.headers.items()) if headers is None else headers,
        # None is the quick way, and what nearly all apps come to.
        skip_auto_headers=[name for name in _FOR_THE_APP_TO_SAY if name not in request.headers] or None,
        allow_redirects=False,
    )
