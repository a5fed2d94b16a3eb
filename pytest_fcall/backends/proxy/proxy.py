"""The proxy: what an app asks is answered from recordings, or passed on and recorded."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from http import HTTPStatus
from io import BytesIO
from socket import socket
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

from pytest_fcall.backends.dispatch.arrivals import Arrivals
from pytest_fcall.backends.proxy.app_run import AppRun, Taken
from pytest_fcall.backends.proxy.asked import STREAM, read_asked
from pytest_fcall.backends.proxy.runs import Runs, Untied
from pytest_fcall.backends.proxy.serving import served
from pytest_fcall.backends.proxy.upstream import new_session, passed_on
from pytest_fcall.backends.secrets import public
from pytest_fcall.backends.store import Kept, StoreError
from pytest_fcall.backends.wire import Wire

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession, web

UNKNOWN = "x-fcall-unknown"
"""A header that says that nobody here knows the case of a request; another run may."""
_GATHERING = 0.001
"""Seconds that a reply waits for others to be kept with: every one of them is a wait of the app."""
_KEPT = (HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY)
"""What a provider says of the request itself, and would say again. Other failures pass."""


class Proxy:
    """Answers the requests of the runs that it knows. `keep` gets what is new, in the thread of the event loop."""

    def __init__(self, runs: Runs, keep: Callable[[Sequence[Kept]], object]) -> None:
        self._runs = runs
        self._keep = keep

    async def serve(self, listening: socket, end: Coroutine[None, None, object]) -> None:
        """Serve a socket until `end`."""
        self._arrivals: Arrivals[Kept] = Arrivals(self._keep, _GATHERING)
        async with new_session() as self._session:
            try:
                async with served(listening, "/{token}/{variable}/{rest:.*}", self._answer):
                    await end
            finally:
                self._arrivals.hand_on_all()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        try:
            run = self._runs.of(request.match_info["token"], request.headers)
            upstream = urlsplit(run.upstreams[request.match_info["variable"]])
        except KeyError:
            return _refused("the proxy knows no such address; is this the client of an earlier run?")
        except Untied as untied:
            return _refused(str(untied), UNKNOWN)
        content = await request.read()
        rest = "/" + request.rel_url.raw_path.split("/", 3)[3]
        below = rest.removeprefix(upstream.path.rstrip("/"))
        taken = run.take(read_asked(request.method, _with_query(below, request), content))
        url = upstream._replace(path=rest, query=request.rel_url.raw_query_string).geturl()
        return await _Answering(request, run, taken, self._session, self._arrivals).answer(url, content)


class _Answering:
    """One request on its way."""

    def __init__(
        self, request: web.Request, run: AppRun, taken: Taken, session: ClientSession, arrivals: Arrivals[Kept]
    ) -> None:
        self._request = request
        self._run = run
        self._taken = taken
        self._session = session
        self._arrivals = arrivals

    async def answer(self, url: str, content: bytes) -> web.StreamResponse:
        from aiohttp import ClientError, web
        from yarl import URL

        if wire := self._run.replayed(self._taken):
            return web.Response(status=wire.status, body=wire.body, headers={"Content-Type": wire.content_type})
        if not self._run.live:
            return _refused(self._run.lacks(self._taken))
        started = time.perf_counter()
        headers = passed_on(self._request.headers.items())
        try:
            async with self._session.request(
                self._request.method,
                URL(url, encoded=True),
                data=BytesIO(content) if content else None,
                headers=headers,
                allow_redirects=False,
            ) as came:
                return await self._pass_on(came, started)
        except (ClientError, OSError, TimeoutError):
            # As without a proxy, the app sees a broken connection, and its library tries again if it would.
            self._run.give_up(self._taken)
            if self._request.transport is not None:
                self._request.transport.abort()
            return web.Response()
        except BaseException:
            self._run.give_up(self._taken)
            raise

    async def _pass_on(self, came: ClientResponse, started: float) -> web.StreamResponse:
        """Hand on what comes, but the end of it only once it is kept: the app may end with it."""
        from aiohttp import web

        headers = passed_on(came.headers.items())
        if came.headers.get("Content-Type", "").startswith(STREAM):
            return await self._pass_on_stream(came, web.StreamResponse(status=came.status, headers=headers), started)
        body = await came.read()
        await self._keep(came, body, time.perf_counter() - started)
        return web.Response(status=came.status, headers=headers, body=body)

    async def _pass_on_stream(
        self, came: ClientResponse, response: web.StreamResponse, started: float
    ) -> web.StreamResponse:
        """Hand on each piece when the next one is there."""
        await self._give(response, b"")
        pieces: list[bytes] = []
        async for piece in came.content.iter_any():
            if pieces:
                await self._give(response, pieces[-1])
            pieces.append(piece)
        await self._keep(came, b"".join(pieces), time.perf_counter() - started)
        await self._give(response, pieces[-1] if pieces else b"")
        with suppress(ConnectionError):
            await response.write_eof()
        return response

    async def _give(self, response: web.StreamResponse, piece: bytes) -> None:
        """Hand a piece on. An app that does not listen any more has asked all the same."""
        with suppress(ConnectionError):
            if not response.prepared:
                await response.prepare(self._request)
            if piece:
                await response.write(piece)

    async def _keep(self, came: ClientResponse, body: bytes, seconds: float) -> None:
        if came.status >= HTTPStatus.BAD_REQUEST and came.status not in _KEPT:
            self._run.give_up(self._taken)
            return
        wire = Wire(came.status, came.headers.get("Content-Type", ""), body)
        entry = self._run.entry(self._taken, wire, seconds)
        self._run.answered(self._taken, entry)
        place = self._run.place
        try:
            await self._arrivals.hand_on(Kept(place.model, place.file, entry))
        except StoreError as error:
            self._run.unkept.append(str(error))


def _with_query(path: str, request: web.Request) -> str:
    """The path with its query, without what may be a key."""
    query = public(dict(parse_qsl(request.query_string)))
    return f"{path}?{urlencode(sorted(query.items()))}" if query else path


def _refused(text: str, *marks: str) -> web.Response:
    """An error that OpenAI's libraries and Anthropic's both can read, and that nobody tries again."""
    from aiohttp import web

    told = {"type": "error", "error": {"type": "invalid_request_error", "message": f"pytest-fcall: {text}"}}
    body = json.dumps(told).encode()
    headers = {"x-should-retry": "false", **dict.fromkeys(marks, "1")}
    return web.Response(status=HTTPStatus.BAD_REQUEST, body=body, headers=headers, content_type="application/json")
