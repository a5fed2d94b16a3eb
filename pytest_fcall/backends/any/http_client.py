"""The HTTP clients of providers' libraries that take one: of bounded answers at one server, or over nothing.

Where nothing is sent, a request is known as a provider would get it, and a reply is read as it came. any-llm's own
functions for batches are not used: that for Anthropic leaves tools out, and that for Gemini needs a bucket.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from httpx import AsyncBaseTransport, AsyncByteStream, AsyncClient, Client, Limits, MockTransport, Request, Response
from yarl import URL

from pytest_fcall.backends.http_answers import (
    ACCEPTED_ENCODINGS,
    LONGEST_BODY,
    MOST_REDIRECTS,
    REDIRECTS,
    body_fault,
    decompress_pieces,
    parse_body,
    redirect_target,
)

if TYPE_CHECKING:
    from any_llm import AnyLLM

    from pytest_fcall.backends.any.provider import Provider


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
        return decompress_pieces(self._stream, self._encoding, LONGEST_BODY)

    async def aclose(self) -> None:
        await self._stream.aclose()


_OF_THE_CONNECTION: Final = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"}
)
_OF_THE_LIBRARY: Final = ("x-stainless-", "x-goog-api-client", "x-server-timeout")


@dataclass(slots=True)
class UnsentExchange:
    """A request that is not sent, and the answer that the library gets instead; None where it gets none."""

    answer: tuple[int, bytes] | None = None
    url: str = ""
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Those of the provider: the key, and what the interface or somebody wants."""


class NothingSent(Exception):
    """The request is known, and there is no answer."""


class OfflineClient:
    """A client of any-llm that sends nothing. Raises ValueError where its library takes no transport of ours."""

    def __init__(self, provider: Provider) -> None:
        self._transport = _Transport()
        options = provider.http_options(bounded_client(self._transport))
        if http_options := options.get("http_options"):  # without this client, another one loads certificates
            http_options["httpx_client"] = Client(transport=MockTransport(lambda _: Response(500)))
        try:
            self.client: AnyLLM = provider.client(**options)
        except TypeError:
            raise ValueError(
                f"the installed library for {provider.name} takes no HTTP client of httpx, without which there are no "
                f'batches; pip install "any-llm-sdk[{provider.name}]"'
            ) from None

    def expect(self, exchange: UnsentExchange) -> None:
        """Have the next request of this task be this exchange."""
        self._transport.current.set(exchange)


class _Transport(AsyncBaseTransport):
    """Hands each request to the exchange of the task that makes it."""

    def __init__(self) -> None:
        self.current: ContextVar[UnsentExchange] = ContextVar("current")

    async def handle_async_request(self, request: Request) -> Response:
        """Note the request, and answer it if there is an answer. Raises NothingSent."""
        exchange = self.current.get()
        exchange.url, exchange.body = str(request.url), await request.aread()
        exchange.headers = {
            name: value
            for name, value in request.headers.items()
            if name not in _OF_THE_CONNECTION and not name.startswith(_OF_THE_LIBRARY)
        }
        if exchange.answer is None:
            raise NothingSent
        status, body = exchange.answer
        return Response(status, headers={"content-type": "application/json"}, content=body, request=request)
