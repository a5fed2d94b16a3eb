"""The proxy: a request is answered from a recording, or forwarded to the provider and recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from socket import socket
from urllib.parse import parse_qsl, urlencode, urlsplit

from aiohttp import ClientError, ClientResponse, ClientSession, web

from pytest_fcall.backends.costs.budget import Bill
from pytest_fcall.backends.dispatch.group_writer import GroupWriter
from pytest_fcall.backends.proxy.app_run import AppRun, NumberedRequest, read_forwarded_request
from pytest_fcall.backends.proxy.case_lookup import AppRuns, UnknownCase
from pytest_fcall.backends.proxy.http import (
    UNKNOWN_CASE_HEADER,
    ProxyAddress,
    error_answer,
    forward,
    http_server,
    new_client_session,
    provider_headers,
)
from pytest_fcall.backends.recordings.answers import EVENT_STREAM, read_recording
from pytest_fcall.backends.recordings.entry import HttpAnswer
from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.backends.store import NewReply, StoreError
from pytest_fcall.core import ModelUnavailable

_RECORDED_STATUSES = (
    *(HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.GONE),
    *(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, HTTPStatus.UNPROCESSABLE_ENTITY),
)
"""What a provider says of the request itself, and would say again. Other failures pass."""
_LONGEST_END = 64
"""Bytes of what came before that may belong to the sign that a stream has come to its end."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """Answers one request of a run."""

    request: web.BaseRequest
    run: AppRun
    taken: NumberedRequest
    session: ClientSession
    arrivals: GroupWriter[NewReply]

    async def answer(self, provider: str, url: str, content: bytes) -> web.StreamResponse:
        """Answer from a recording or, where the run may, from what is found at `url`, an address of the provider."""
        if wire := self.run.replayed(self.taken):
            return web.Response(status=wire.status, body=wire.body, headers={"Content-Type": wire.content_type})
        if not self.run.live:
            return error_answer(self.run.lacks(self.taken))
        started = time.perf_counter()
        try:
            async with (
                self.run.paying(self.taken, provider) as bill,
                forward(self.session, self.request, url, content) as came,
            ):
                return await self._pass_on(came, started, bill)
        except ModelUnavailable as unavailable:
            self.run.give_up(self.taken)
            self.run.unpaid.append(str(unavailable))
            return error_answer(str(unavailable))
        except (ClientError, OSError, TimeoutError):
            # As without a proxy, the app sees a broken connection, and its library tries again if it would.
            self.run.give_up(self.taken)
            if self.request.transport is not None:
                self.request.transport.abort()
            return web.Response()
        except BaseException:
            self.run.give_up(self.taken)
            raise

    async def _pass_on(self, came: ClientResponse, started: float, bill: Bill) -> web.StreamResponse:
        """Hand on what comes, but the end of it only once it is kept: the app may end with it."""
        headers = provider_headers(came.headers.items())
        if came.headers.get("Content-Type", "").startswith(EVENT_STREAM):
            response = web.StreamResponse(status=came.status, headers=headers)
            return await self._pass_on_stream(came, response, started, bill)
        body = await came.read()
        await self._keep(came, body, started, bill)
        return web.Response(status=came.status, headers=headers, body=body)

    async def _pass_on_stream(
        self, came: ClientResponse, response: web.StreamResponse, started: float, bill: Bill
    ) -> web.StreamResponse:
        """Hand on each piece as it comes. Only one that may be the last waits until more comes, or all is kept."""
        await self._give(response, b"")
        tail = held = b""
        pieces: list[bytes] = []
        async for piece in came.content.iter_any():
            await self._give(response, held)
            tail = tail[-_LONGEST_END:] + piece
            held = piece if self.taken.asked.has_ended(tail) else b""
            if not held:
                await self._give(response, piece)
            pieces.append(piece)
        await self._keep(came, b"".join(pieces), started, bill)
        await self._give(response, held)
        with suppress(ConnectionError):
            await response.write_eof()
        return response

    async def _give(self, response: web.StreamResponse, piece: bytes) -> None:
        """Hand a piece on. An app that does not listen any more has asked all the same."""
        with suppress(ConnectionError):
            if not response.prepared:
                await response.prepare(self.request)
            if piece:
                await response.write(piece)

    async def _keep(self, came: ClientResponse, body: bytes, started: float, bill: Bill) -> None:
        """Keep the answer, if it would be given again."""
        seconds = time.perf_counter() - started
        wire = HttpAnswer(came.status, came.headers.get("Content-Type", ""), body)
        bill.free = wire.status >= HTTPStatus.BAD_REQUEST
        if not self._stands(wire):
            self.run.give_up(self.taken)
            return
        unread = self.run.answered(self.taken, wire, seconds)
        if self.run.purse:
            bill.usage = read_recording(unread).reply.usage
        place = self.run.place
        try:
            await self.arrivals.write(NewReply(place.model, place.file, unread))
        except StoreError as error:
            self.run.unkept.append(str(error))

    def _stands(self, wire: HttpAnswer) -> bool:
        """Whether it is an answer; else it is a failure that may pass, such as half a stream."""
        if wire.status >= HTTPStatus.BAD_REQUEST:
            return wire.status in _RECORDED_STATUSES
        return not wire.content_type.startswith(EVENT_STREAM) or self.taken.asked.has_ended(wire.body)


_GATHER_SECONDS = 0.0
"""Seconds that a reply waits for others to be kept with: the app waits, too, and those of a busy moment meet anyway."""
_WEBSOCKET = (
    "what goes over a WebSocket is not recorded; give this client its provider's own address, or set fc_proxy = off"
)


class Proxy:
    """Answers the requests of the runs that it knows. `keep` gets what is new, in the thread of the event loop."""

    def __init__(self, runs: AppRuns, keep: Callable[[Sequence[NewReply]], object]) -> None:
        self._runs = runs
        self._keep = keep

    async def serve(self, listening: socket, end: Coroutine[None, None, object]) -> None:
        """Serve a socket until `end`."""
        self._arrivals: GroupWriter[NewReply] = GroupWriter(self._keep, _GATHER_SECONDS)
        async with new_client_session() as self._session:
            try:
                async with http_server(listening, self._answer):
                    await end
            finally:
                self._arrivals.flush()

    async def _answer(self, request: web.BaseRequest, way: ProxyAddress) -> web.StreamResponse:
        if request.headers.get("Upgrade", "").lower() == "websocket":
            return error_answer(_WEBSOCKET)
        try:
            run = self._runs.of(way.token, request.headers)
            provider = run.upstreams[way.variable]
        except KeyError:
            return error_answer("the proxy knows no such address; is this the client of an earlier run?")
        except UnknownCase as untied:
            return error_answer(str(untied), UNKNOWN_CASE_HEADER)
        content = await request.read()
        below = way.path.removeprefix(urlsplit(provider).path.rstrip("/"))
        taken = run.take(read_forwarded_request(request.method, _path_with_query(below, way.query), content))
        answering = Exchange(request, run, taken, self._session, self._arrivals)
        return await answering.answer(provider, way.at(provider), content)


def _path_with_query(path: str, query: str) -> str:
    """The path with its query, without what may be a key."""
    told = without_secrets(dict(parse_qsl(query))) if query else {}
    return f"{path}?{urlencode(sorted(told.items()))}" if told else path
