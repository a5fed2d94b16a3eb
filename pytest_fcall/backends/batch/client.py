"""HTTP to a server that takes batches, and what a request without a good answer says about what the server did."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientResponse
from yarl import URL

from pytest_fcall.backends.batch_server import BatchServer
from pytest_fcall.backends.http_answers import (
    ACCEPTED_ENCODINGS,
    MOST_REDIRECTS,
    REDIRECTS,
    WITHOUT_BODY,
    RedirectError,
    UnreadableBody,
    parse_body,
    pieces_of,
    redirect_target,
    whole_body,
)
from pytest_fcall.backends.openai.client import Connections, UnusableProxy, connection_failure, joined_headers
from pytest_fcall.backends.provider_failures import NO_CONNECTION, ProviderFailure, Redactor, read_failure
from pytest_fcall.core.files import open_private
from pytest_fcall.core.values import Json

_REQUEST_SECONDS: Final = 120.0
_TRANSFER_SECONDS: Final = 3_600.0
_PIECE: Final = 2**18


class ServerError(Exception):
    """The server did not do what it was asked for, or did not say so. The text says what it was, and what came."""


class ServerNotReached(ServerError):
    """Nothing was sent."""


class Unclear(ServerError):
    """The server may have done it: the connection broke, or the server failed."""


class ServerRefused(ServerError):
    """The server has not done it."""


class Gone(ServerRefused):
    """The server has never had, or no longer has, the requested item."""


class ServerThrottled(ServerRefused):
    """The server has not done it, and may do it later."""

    def __init__(self, text: str, wait: float | None) -> None:
        super().__init__(text)
        self.wait = wait
        """The seconds after which it wants to be asked again, where it says so."""


@dataclass(frozen=True, slots=True)
class StreamedBody:
    """A body that is too long to be in memory. `pieces` begins anew with each call."""

    length: int
    pieces: Callable[[], AsyncIterator[bytes]] = field(repr=False)
    content_type: str = "application/json"

    @classmethod
    def of_file(cls, path: Path, content_type: str, before: bytes = b"", after: bytes = b"") -> StreamedBody:
        """The body that is a file between two texts."""

        async def pieces() -> AsyncIterator[bytes]:
            yield before
            with path.open("rb") as file:
                while piece := file.read(_PIECE):
                    yield piece
                    await asyncio.sleep(0)
            yield after

        return cls(len(before) + path.stat().st_size + len(after), pieces, content_type)


@dataclass(frozen=True, slots=True)
class BatchHttpAnswer:
    """A good answer of a server."""

    content: bytes
    headers: Mapping[str, str]

    def data(self, task: str) -> Mapping[str, Json]:
        """The object in it. Raises Unclear, since the server has done what it was asked for."""
        try:
            data = parse_body(self.content)
        except ValueError as error:
            raise Unclear(f"{task}: the answer is {error}") from None
        if not isinstance(data, Mapping):
            raise Unclear(f"{task}: the answer is no JSON object")
        return data


class BatchClient:
    """Requests of one event loop to one server, also where that redirects, and to no other one."""

    def __init__(self, server: BatchServer) -> None:
        self._server = server
        self._connections = Connections(server.url)
        self._redactor = Redactor(urlsplit(server.url).netloc, server.secrets, server.key_variable)

    async def ask(
        self,
        task: str,
        method: str,
        address: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | StreamedBody | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> BatchHttpAnswer:
        """The answer to a request; `task` says in words what it is for. Raises ServerError."""
        content_type = body.content_type if isinstance(body, StreamedBody) else "application/json"
        given = {**(headers or {}), **({"content-type": content_type} if body is not None else {})}
        seconds = _TRANSFER_SECONDS if isinstance(body, StreamedBody) else _REQUEST_SECONDS

        url = self._address(address, query)
        async with self._answer(task, method, url, given, body, seconds) as response:
            return BatchHttpAnswer(await whole_body(response), _plain(response.headers))

    async def download(self, task: str, addresses: Sequence[str], target: Path, longest: int) -> Sequence[str]:
        """Write what lies at these addresses to a private file, and return those where nothing is any more.

        The file is there as a whole, or not at all. Raises Gone where nothing is at any, other errors and OSError.
        """
        draft = target.with_name(f".{target.name}.draft")
        gone: dict[str, Gone] = {}
        with open_private(draft) as file:
            for address in addresses:
                try:
                    async with self._answer(
                        task, "GET", self._address(address), {}, None, _TRANSFER_SECONDS
                    ) as response:
                        async for piece in pieces_of(response, longest - file.tell()):
                            file.write(piece)
                    file.write(b"\n")  # the last line may lack it
                except Gone as error:
                    gone[address] = error
        if len(gone) == len(addresses):
            raise next(iter(gone.values()), Gone(self.message(task, "there is nothing")))
        draft.replace(target)
        return [*gone]

    async def close(self) -> None:
        """Close all connections."""
        await self._connections.close()

    def shortened(self, text: str) -> str:
        """Remove secrets and line breaks from a text, and cut it, so that a message may show it."""
        return self._redactor.shortened(text)

    def message(self, *parts: str) -> str:
        """Join the parts to a message of one line, without secrets."""
        return self._redactor.message(*parts)

    def _address(self, address: str, query: Mapping[str, str] | None = None) -> URL:
        return URL(address).update_query({**self._server.query, **(query or {})})

    @asynccontextmanager
    async def _answer(
        self,
        task: str,
        method: str,
        url: URL,
        headers: Mapping[str, str],
        body: bytes | StreamedBody | None,
        seconds: float,
    ) -> AsyncIterator[ClientResponse]:
        """The good answer to a request. Raises ServerError."""
        try:
            async with asyncio.timeout(seconds), AsyncExitStack() as stack:
                yield await self._followed(stack, task, method, url, headers, body)
        except TimeoutError:
            raise Unclear(self.message(task, f"no answer came within {seconds:g} s")) from None
        except UnusableProxy as error:
            raise ServerNotReached(self.message(task, str(error))) from None
        except RedirectError as error:
            raise ServerRefused(self.message(task, str(error))) from None
        except UnreadableBody as error:
            raise Unclear(self.message(task, f"the answer {error}")) from None
        except ClientError as error:  # it holds the key, so it does not leave this function
            raise self._broken(task, connection_failure(error)) from None

    async def _followed(
        self,
        stack: AsyncExitStack,
        task: str,
        method: str,
        url: URL,
        headers: Mapping[str, str],
        body: bytes | StreamedBody | None,
    ) -> ClientResponse:
        """The good answer, at the end of all redirects. Raises ServerRefused and the like, and RedirectError."""
        known = joined_headers({"Accept-Encoding": ACCEPTED_ENCODINGS}, self._server.headers, headers)
        for _ in range(MOST_REDIRECTS + 1):
            sent = body.pieces() if isinstance(body, StreamedBody) else body
            length = {"content-length": str(body.length)} if isinstance(body, StreamedBody) else {}
            exchange = self._connections.exchange(method, url, joined_headers(known, length), sent)
            response = await stack.enter_async_context(exchange)
            if response.status in REDIRECTS and (location := response.headers.get("location")):
                if method == "POST" and response.status in WITHOUT_BODY:
                    raise RedirectError(f"the server redirects with HTTP {response.status}, which takes no body along")
                url = redirect_target(url, location)
                continue
            if response.status >= 400:
                raise self._error(task, response.status, await whole_body(response), _plain(response.headers))
            return response
        raise RedirectError(f"there are more than {MOST_REDIRECTS} redirects in a row")

    def _error(self, task: str, status: int, content: bytes, headers: Mapping[str, str]) -> ServerError:
        try:
            body = parse_body(content)
        except ValueError:
            body = content.decode(errors="replace")
        failure = read_failure(status, body, headers)
        text = self._words(task, failure)
        if status >= 500 or status == HTTPStatus.REQUEST_TIMEOUT:
            return Unclear(text)
        if failure.kind.blame == "throttled":
            return ServerThrottled(text, failure.retry_after)
        return Gone(text) if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE) else ServerRefused(text)

    def _broken(self, task: str, failure: ProviderFailure) -> ServerError:
        kind = ServerNotReached if NO_CONNECTION in failure.codes else Unclear
        return kind(self._words(task, failure))

    def _words(self, task: str, failure: ProviderFailure) -> str:
        kind = failure.kind
        is_known = kind.blame == "model" and failure.status not in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
        advice = kind.advice.format(key=self._redactor.key_variable) if is_known else ""
        status = f"HTTP {failure.status}" if failure.status else ""
        wait = f"it asks to wait {failure.retry_after:g} s" if failure.retry_after is not None else ""
        return self.message(task, advice, status, failure.text if kind.quotes_provider else "", wait)


def id_in(data: Mapping[str, Json], task: str, key: str = "id", before: str = "") -> str:
    """The id that a server gives something, which goes into addresses. Raises Unclear where there is none."""
    found = data.get(key)
    if isinstance(found, str) and re.fullmatch(r"\w[\w.~-]{0,199}", found.removeprefix(before), re.ASCII):
        return found
    raise Unclear(f"{task}: the answer has no id")


def _plain(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
