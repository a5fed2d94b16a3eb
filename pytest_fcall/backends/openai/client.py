"""The HTTP client of `openai:NAME`, by way of the openai library, and the Reply or failure in an answer."""

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
"""Where the library below the openai library tells of each request."""

_CONNECTING = 15.0
"""Seconds for a connection; the answer itself has the whole time."""


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """A body, and what the server said with it."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    """Found by names in lower case."""


class _AddressFilter(logging.Filter):
    """Lets nothing be logged that names the server: whole addresses are, and there may be a key in one."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._host = urlsplit(url).hostname or ""

    def filter(self, record: logging.LogRecord) -> bool:
        return self._host not in record.getMessage()


class Client:
    """Asks one server. Its connections belong to the event loop that asks, so each loop has its own."""

    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._key = key
        self._clients: dict[asyncio.AbstractEventLoop, AsyncOpenAI] = {}
        self._untold = _AddressFilter(url)

    def open(self) -> None:
        """Get ready, which takes its time before the first request."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = self._new_client()

    async def post(
        self, path: str, body: bytes, headers: Mapping[str, str], timeout: float
    ) -> ServerAnswer | ProviderFailure:
        """Send `body` to `path`. Whatever goes wrong on the way is returned, in words."""
        self.open()
        try:
            async with asyncio.timeout(timeout):
                return await _post(self._clients[asyncio.get_running_loop()], path, body, headers)
        except TimeoutError:
            return ProviderFailure(f"no answer came within {timeout:g} s", words=frozenset({"timeout"}))

    async def close(self) -> None:
        """Close all connections. Those of an event loop that is closed went with it."""
        _LOG.removeFilter(self._untold)
        gc.unfreeze()
        while self._clients:
            _, client = self._clients.popitem()
            with suppress(RuntimeError):
                await client.close()

    def _new_client(self) -> AsyncOpenAI:
        with _gc_frozen():  # some 66,000 objects
            import openai

        address = urlsplit(self._url)
        _LOG.addFilter(self._untold)
        return openai.AsyncOpenAI(
            api_key=self._key,
            base_url=address._replace(query="", fragment="").geturl(),
            default_query=dict(parse_qsl(address.query)),
            max_retries=0,
            timeout=openai.Timeout(None, connect=_CONNECTING),
            http_client=openai.DefaultAioHttpClient(),
        )


@contextmanager
def _gc_frozen() -> Iterator[None]:
    """Have no garbage looked for in what is made meanwhile: it stays, and looking takes half as long as asking."""
    with gc_paused():
        yield
        gc.freeze()


async def _post(
    client: AsyncOpenAI, path: str, body: bytes, headers: Mapping[str, str]
) -> ServerAnswer | ProviderFailure:
    import aiohttp
    import httpx2
    import openai

    # Nothing is raised on from here: the library's errors hold the request, with its key.
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
    """Say why there is no whole answer. Libraries wrap each other's errors: the innermost one that we know counts."""
    import aiohttp
    import httpx2

    for cause in reversed([*_causes(error)]):
        match cause:
            case ssl.SSLCertVerificationError():
                return ProviderFailure(cause.verify_message, words=frozenset({"untrusted_certificate"}))
            case aiohttp.ClientPayloadError():
                return ProviderFailure("the answer broke off in the middle")
            case aiohttp.ServerDisconnectedError() | ConnectionResetError() | BrokenPipeError():
                return ProviderFailure("the server closed the connection before it answered")
            case httpx2.DecodingError():
                return ProviderFailure("the answer is compressed and cannot be unpacked")
            case ConnectionRefusedError():
                return ProviderFailure("the connection was refused: is the server running?")
            case TimeoutError():
                return ProviderFailure(f"no connection within {_CONNECTING:g} s")
            case aiohttp.ClientConnectorError():
                return ProviderFailure(f"no connection: {cause.os_error.strerror or 'the server was not found'}")
            case aiohttp.ClientResponseError():
                return ProviderFailure("what came is no HTTP")
    return ProviderFailure(f"the connection failed ({type(error).__name__})")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def read_answer(came: ServerAnswer, form: Endpoint, out: WireTools) -> Reply | ProviderFailure:
    """The reply, or why there is none."""
    good = came.status < HTTPStatus.BAD_REQUEST
    try:
        body = parse_body(came.body)
    except ValueError as error:
        if good:
            return ProviderFailure(_unexpected_answer(came.body, str(error)))
        body = came.body.decode(errors="replace")
    if good and isinstance(body, Mapping):
        reply = form.read(body, out)
        if reply is not None:
            return reply
    failure = read_failure(came.status, body, came.headers)
    return (
        failure
        if failure.text
        else ProviderFailure("the server's answer is JSON, but none of OpenAI's forms of an answer")
    )


def _unexpected_answer(body: bytes, fault: str) -> str:
    """What came instead of JSON, in words."""
    start = body.lstrip()[:10]
    if not start:
        return "the server's answer is empty"
    if start.startswith(b"<"):
        return "the server answered with a web page; `base_url` mostly ends in /v1, or is there a proxy in between?"
    if start.startswith((b"data:", b"event:")):
        return "the server streams its answer, which nobody asked for"
    return f"the server's answer is {fault}"
