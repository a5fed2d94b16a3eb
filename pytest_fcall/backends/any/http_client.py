"""The HTTP client of providers' libraries that take one: bounded answers, and no redirects to other servers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from httpx import AsyncBaseTransport, AsyncByteStream, AsyncClient, Limits, Response
from yarl import URL

from pytest_fcall.backends.answer_body import (
    ACCEPTED_ENCODINGS,
    LONGEST_BODY,
    body_fault,
    decompressed,
    parse_body,
)
from pytest_fcall.backends.redirects import MOST_REDIRECTS, REDIRECTS, redirect_target

_MOST_CONNECTIONS: Final = 1_000
"""As many as the openai library opens; how many requests are sent at a time is decided before they come here."""


class NoAnswer(Exception):
    """An answer that is not JSON. The text says what it is instead."""


def bounded_client(transport: AsyncBaseTransport | None = None) -> AsyncClient:
    """A client that raises UnreadableBody, TooLong, NoAnswer or RedirectError for what would do harm."""
    return AsyncClient(
        transport=transport,
        headers={"accept-encoding": ACCEPTED_ENCODINGS},
        limits=Limits(max_connections=_MOST_CONNECTIONS, max_keepalive_connections=_MOST_CONNECTIONS),
        follow_redirects=True,
        max_redirects=MOST_REDIRECTS,
        event_hooks={"response": [_check]},
    )


async def _check(response: Response) -> None:
    """Read an answer, or refuse it. httpx calls this before it follows a redirect."""
    if response.status_code in REDIRECTS and (location := response.headers.get("location")):
        redirect_target(URL(str(response.request.url)), location)
    if isinstance(response.stream, AsyncByteStream):
        encoding = response.headers.pop("content-encoding", "")
        response.stream = _BoundedStream(response.stream, encoding)
    content = await response.aread()
    if response.is_success:
        try:
            parse_body(content)
        except ValueError as error:
            raise NoAnswer(body_fault(content, str(error))) from None


class _BoundedStream(AsyncByteStream):
    """The decompressed pieces of an answer, up to as many bytes as an answer may have."""

    def __init__(self, stream: AsyncByteStream, encoding: str) -> None:
        self._stream = stream
        self._encoding = encoding

    def __aiter__(self) -> AsyncIterator[bytes]:
        return decompressed(self._stream, self._encoding, LONGEST_BODY)

    async def aclose(self) -> None:
        await self._stream.aclose()
