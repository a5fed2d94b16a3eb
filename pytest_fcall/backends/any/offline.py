"""any-llm's client over a transport that sends nothing: the request as a provider would get it, the reply as it came.

Its own functions for batches are not used: that for Anthropic leaves tools out, and that for Gemini needs a bucket.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from httpx import AsyncBaseTransport, Client, MockTransport, Request, Response

from pytest_fcall.backends.any.http_client import bounded_client

if TYPE_CHECKING:
    from any_llm import AnyLLM

    from pytest_fcall.backends.any.provider import Provider

_OF_THE_CONNECTION: Final = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "content-type", "host", "user-agent"}
)
_OF_THE_LIBRARY: Final = ("x-stainless-", "x-goog-api-client", "x-server-timeout")


@dataclass(slots=True)
class Exchange:
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

    def expect(self, exchange: Exchange) -> None:
        """Have the next request of this task be this exchange."""
        self._transport.current.set(exchange)


class _Transport(AsyncBaseTransport):
    """Hands each request to the exchange of the task that makes it."""

    def __init__(self) -> None:
        self.current: ContextVar[Exchange] = ContextVar("current")

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
