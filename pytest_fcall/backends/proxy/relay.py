"""What stands before an app that was started by hand: it leads to the proxies of runs, or to the provider."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator, Mapping
from contextlib import suppress
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pytest_fcall.backends.proxy.announcing import announced
from pytest_fcall.backends.proxy.proxy import UNKNOWN
from pytest_fcall.backends.proxy.serving import served
from pytest_fcall.backends.proxy.upstream import new_session, relayed

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession, web


class Relay:
    """Passes each request on to the run whose case it belongs to; without any run, to where it would have gone."""

    def __init__(self, token: str, root: Path, upstreams: Mapping[str, str]) -> None:
        self._token = token
        self._root = root
        self._upstreams = upstreams

    async def serve(self, listening: socket, end: Coroutine[None, None, object]) -> None:
        """Serve a socket until `end`."""
        path = f"/{self._token}/{{variable}}/{{rest:.*}}"
        async with new_session() as self._session, served(listening, path, self._answer):
            await end

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        from aiohttp import ClientConnectorError, ClientError, web

        content = await request.read()
        answer: web.StreamResponse = web.Response(status=HTTPStatus.NOT_FOUND)
        for path, url in self._ways(request):
            try:
                answered = await _relayed(self._session, request, url, content)
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

    def _ways(self, request: web.Request) -> Iterator[tuple[Path | None, str]]:
        """Where a request may go, with the file that says so."""
        variable = request.match_info["variable"]
        upstream = self._upstreams.get(variable)
        if upstream is None:
            return
        raw = request.rel_url.raw_path.split("/", 3)[3]
        query = f"?{request.rel_url.raw_query_string}" if request.rel_url.raw_query_string else ""
        runs = announced(self._root)
        for path, base in runs.items():
            yield path, f"{base}/{variable}/{raw}{query}"
        if not announced(self._root):  # also where those that were there have turned out to be gone
            yield None, urlsplit(upstream)._replace(path=f"/{raw}", query=request.rel_url.raw_query_string).geturl()


async def _relayed(session: ClientSession, request: web.Request, url: str, content: bytes) -> web.StreamResponse | None:
    """The answer, handed on as it comes; None where who was asked does not know the case."""
    from yarl import URL

    async with session.request(
        request.method,
        URL(url, encoded=True),
        data=BytesIO(content) if content else None,
        headers=relayed(request.headers.items()),
        allow_redirects=False,
    ) as came:
        return None if UNKNOWN in came.headers else await _handed_on(request, came)


async def _handed_on(request: web.Request, came: ClientResponse) -> web.StreamResponse:
    from aiohttp import web

    response = web.StreamResponse(status=came.status, headers=relayed(came.headers.items()))
    with suppress(ConnectionError):
        await response.prepare(request)
    async for piece in came.content.iter_any():
        with suppress(ConnectionError):
            await response.write(piece)
    with suppress(ConnectionError):
        await response.write_eof()
    return response
