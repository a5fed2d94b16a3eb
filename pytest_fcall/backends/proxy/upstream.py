"""The providers behind the proxy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from io import BytesIO
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession, web

KNOWN: Mapping[str, str] = MappingProxyType(
    {"OPENAI_BASE_URL": "https://api.openai.com/v1", "ANTHROPIC_BASE_URL": "https://api.anthropic.com"}
)
"""Where a library asks if a variable says nothing else."""

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


@lru_cache(maxsize=64)
def is_address(url: str) -> bool:
    """Whether requests can be sent on to it."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def relayed(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers that are not about one connection."""
    return [(name, value) for name, value in headers if name.lower() not in _BETWEEN_TWO]


def passed_on(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The headers that go on to a provider, and come back from it; ours do not."""
    return [(name, value) for name, value in relayed(headers) if not name.lower().startswith("x-fcall-")]


def new_session() -> ClientSession:
    """What asks providers. It takes as long as they take, and keeps no cookies."""
    from urllib.request import getproxies

    import aiohttp

    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECTING),
        cookie_jar=aiohttp.DummyCookieJar(),
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
    from yarl import URL

    return session.request(
        request.method,
        URL(url, encoded=True),
        data=BytesIO(content) if len(content) >= _LARGE else content or None,
        headers=passed_on(request.headers.items()) if headers is None else headers,
        # None is the quick way, and what nearly all apps come to.
        skip_auto_headers=[name for name in _FOR_THE_APP_TO_SAY if name not in request.headers] or None,
        allow_redirects=False,
    )
