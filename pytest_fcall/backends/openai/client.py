"""The HTTP client of `openai:NAME`, built on the openai library, and the Reply or failure in an answer."""

from __future__ import annotations

import asyncio
import gc
import logging
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from pytest_fcall.backends.openai.wire_request import Endpoint
from pytest_fcall.backends.provider_failures import ProviderFailure, parse_body, read_failure
from pytest_fcall.core import Reply
from pytest_fcall.core.gc_pause import gc_paused
from pytest_fcall.schema.wire_tools import WireTools

if TYPE_CHECKING:
    from openai import AsyncOpenAI


_LOG = logging.getLogger("httpx2")
"""Logs each request of the openai library."""

_CONNECT_SECONDS = 15.0
"""The time limit for a connection; the answer has that of the request."""


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """An HTTP answer."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    """With names in lower case."""


class _AddressFilter(logging.Filter):
    """Drops log records that contain the server's address, which may contain a key."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._host = urlsplit(url).hostname or ""

    def filter(self, record: logging.LogRecord) -> bool:
        return self._host not in record.getMessage()


class Client:
    """Sends requests to one server, with connections of its own for each event loop."""

    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._key = key
        self._clients: dict[asyncio.AbstractEventLoop, AsyncOpenAI] = {}
        self._log_filter = _AddressFilter(url)

    def open(self) -> None:
        """Prepare the current event loop; the first call imports the openai library, which is slow."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = self._new_client()

    async def post(
        self, path: str, body: bytes, headers: Mapping[str, str], timeout: float
    ) -> ServerAnswer | ProviderFailure:
        """Send `body` to `path`. A broken connection or a timeout is returned as a failure."""
        self.open()
        try:
            async with asyncio.timeout(timeout):
                return await _post(self._clients[asyncio.get_running_loop()], path, body, headers)
        except TimeoutError:
            return ProviderFailure(f"no answer came within {timeout:g} s", codes=frozenset({"timeout"}))

    async def close(self) -> None:
        """Close all connections. Those of a closed event loop are gone already."""
        _LOG.removeFilter(self._log_filter)
        gc.unfreeze()
        while self._clients:
            _, client = self._clients.popitem()
            with suppress(RuntimeError):
                await client.close()

    def _new_client(self) -> AsyncOpenAI:
        with _gc_frozen():  # some 66,000 objects
            import openai

        address = urlsplit(self._url)
        _LOG.addFilter(self._log_filter)
        return openai.AsyncOpenAI(
            api_key=self._key,
            base_url=address._replace(query="", fragment="").geturl(),
            default_query=dict(parse_qsl(address.query)),
            max_retries=0,
            timeout=openai.Timeout(None, connect=_CONNECT_SECONDS),
            http_client=openai.DefaultAioHttpClient(),
        )


@contextmanager
def _gc_frozen() -> Iterator[None]:
    """Keep what is made in the block from the garbage collector, whose search takes half as long as a request."""
    with gc_paused():
        yield
        gc.freeze()


async def _post(
    client: AsyncOpenAI, path: str, body: bytes, headers: Mapping[str, str]
) -> ServerAnswer | ProviderFailure:
    import aiohttp
    import httpx2
    import openai

    # The library's errors hold the request with its key, so none of them leaves this function.
    try:
        response = await client.post(
            path,
            cast_to=httpx2.Response,
            content=body,
            options={"headers": {"Content-Type": "application/json", **headers}},
        )
    except openai.APIStatusError as error:
        response = error.response
    except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL, aiohttp.ClientError) as error:
        return _connection_failure(error)
    return ServerAnswer(response.status_code, response.content, response.headers)


def _connection_failure(error: BaseException) -> ProviderFailure:
    """Describe why there is no whole answer. Libraries wrap each other's errors; the innermost known one counts."""
    import aiohttp
    import httpx2

    for cause in reversed([*_causes(error)]):
        match cause:
            case ssl.SSLCertVerificationError():
                return ProviderFailure(cause.verify_message, codes=frozenset({"untrusted_certificate"}))
            case aiohttp.ClientPayloadError():
                return ProviderFailure("the answer broke off in the middle")
            case aiohttp.ServerDisconnectedError() | ConnectionResetError() | BrokenPipeError():
                return ProviderFailure("the server closed the connection before it answered")
            case httpx2.DecodingError():
                return ProviderFailure("the answer is compressed and cannot be decompressed")
            case ConnectionRefusedError():
                return ProviderFailure("the connection was refused: is the server running?")
            case TimeoutError():
                return ProviderFailure(f"no connection within {_CONNECT_SECONDS:g} s")
            case aiohttp.ClientConnectorError():
                return ProviderFailure(f"no connection: {cause.os_error.strerror or 'the server was not found'}")
            case aiohttp.ClientResponseError():
                return ProviderFailure("the answer is not HTTP")
    return ProviderFailure(f"the connection failed ({type(error).__name__})")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def read_answer(answer: ServerAnswer, endpoint: Endpoint, wire_tools: WireTools) -> Reply | ProviderFailure:
    """The reply in an answer, or the failure that the answer reports."""
    succeeded = answer.status < HTTPStatus.BAD_REQUEST
    try:
        body = parse_body(answer.body)
    except ValueError as error:
        if succeeded:
            return ProviderFailure(_not_json(answer.body, str(error)))
        body = answer.body.decode(errors="replace")
    if succeeded and isinstance(body, Mapping) and (reply := endpoint.read_reply(body, wire_tools)) is not None:
        return reply
    failure = read_failure(answer.status, body, answer.headers)
    return failure if failure.text else ProviderFailure("the server's answer is JSON, but not in OpenAI's form")


def _not_json(body: bytes, fault: str) -> str:
    """The message for a body that is not JSON."""
    start = body.lstrip()[:10]
    if not start:
        return "the server's answer is empty"
    if start.startswith(b"<"):
        return "the server answered with a web page; `base_url` usually ends in /v1, or is there a proxy in between?"
    if start.startswith((b"data:", b"event:")):
        return "the server streams its answer, though the request did not ask for a stream"
    return f"the server's answer is {fault}"
