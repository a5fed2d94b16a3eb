"""The relay of `fcall proxy`: forwards the requests of an app started by hand to a run's proxy or the provider."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from socket import socket

from aiohttp import ClientConnectorError, ClientError, ClientResponse, ClientSession, web

from pytest_fcall.backends.proxy.announcements import announced_proxies
from pytest_fcall.backends.proxy.http import (
    UNKNOWN_CASE_HEADER,
    ProxyAddress,
    end_to_end_headers,
    forward,
    http_server,
    new_client_session,
)


class Relay:
    """Passes each request on to the run whose case it belongs to; without any run, to where it would have gone."""

    def __init__(self, token: str, root: Path, upstreams: Mapping[str, str]) -> None:
        self._token = token
        self._root = root
        self._upstreams = upstreams

    async def serve(self, listening: socket, end: Coroutine[None, None, object]) -> None:
        """Serve a socket until `end`."""
        async with new_client_session() as self._session, http_server(listening, self._answer):
            await end

    async def _answer(self, request: web.BaseRequest, way: ProxyAddress) -> web.StreamResponse:
        content = await request.read()
        answer: web.StreamResponse = web.Response(status=HTTPStatus.NOT_FOUND)
        for path, url in self._ways(way) if way.token == self._token else ():
            try:
                answered = await _forwarded(self._session, request, url, content)
            except ClientConnectorError:
                if path is not None:  # of a run that was killed
                    path.unlink(missing_ok=True)
                continue
            except (ClientError, OSError):
                answered = web.Response(status=HTTPStatus.BAD_GATEWAY)
            if answered is not None:
                return answered
            answer = web.Response(status=HTTPStatus.BAD_REQUEST, text="pytest-fcall: no run knows this request's case")
        return answer

    def _ways(self, way: ProxyAddress) -> Iterator[tuple[Path | None, str]]:
        """Where a request may go, with the file that says so."""
        upstream = self._upstreams.get(way.variable)
        if upstream is None:
            return
        query = f"?{way.query}" if way.query else ""
        for path, base in announced_proxies(self._root).items():
            yield path, f"{base}/{way.variable}{way.path}{query}"
        if not announced_proxies(self._root):  # also where those that were there have turned out to be gone
            yield None, way.at(upstream)


async def _forwarded(
    session: ClientSession, request: web.BaseRequest, url: str, content: bytes
) -> web.StreamResponse | None:
    """The answer, handed on as it comes; None where who was asked does not know the case."""
    async with forward(session, request, url, content, end_to_end_headers(request.headers.items())) as came:
        return None if UNKNOWN_CASE_HEADER in came.headers else await _streamed_answer(request, came)


async def _streamed_answer(request: web.BaseRequest, came: ClientResponse) -> web.StreamResponse:
    response = web.StreamResponse(status=came.status, headers=end_to_end_headers(came.headers.items()))
    with suppress(ConnectionError):
        await response.prepare(request)
    async for piece in came.content.iter_any():
        with suppress(ConnectionError):
            await response.write(piece)
    with suppress(ConnectionError):
        await response.write_eof()
    return response
