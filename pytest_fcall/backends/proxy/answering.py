"""One request of an app on its way, and its answer on the way back."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus

from aiohttp import ClientError, ClientResponse, ClientSession, web

from pytest_fcall.backends.dispatch.arrivals import Arrivals
from pytest_fcall.backends.forms.reading import STREAM, read
from pytest_fcall.backends.metered import Bill
from pytest_fcall.backends.proxy.app_run import AppRun, Taken
from pytest_fcall.backends.proxy.refusal import refused
from pytest_fcall.backends.proxy.upstream import asking, passed_on
from pytest_fcall.backends.store import New, StoreError
from pytest_fcall.backends.wire import Wire
from pytest_fcall.core import ModelUnavailable

_KEPT = (
    *(HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.GONE),
    *(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, HTTPStatus.UNPROCESSABLE_ENTITY),
)
"""What a provider says of the request itself, and would say again. Other failures pass."""
_LONGEST_END = 64
"""Bytes of what came before that may belong to the sign that a stream has come to its end."""


@dataclass(frozen=True, slots=True)
class Answering:
    """Answers one request of a run."""

    request: web.BaseRequest
    run: AppRun
    taken: Taken
    session: ClientSession
    arrivals: Arrivals[New]

    async def answer(self, provider: str, url: str, content: bytes) -> web.StreamResponse:
        """Answer from a recording or, where the run may, from what is found at `url`, an address of the provider."""
        if wire := self.run.replayed(self.taken):
            return web.Response(status=wire.status, body=wire.body, headers={"Content-Type": wire.content_type})
        if not self.run.live:
            return refused(self.run.lacks(self.taken))
        started = time.perf_counter()
        try:
            async with (
                self.run.paying(self.taken, provider) as bill,
                asking(self.session, self.request, url, content) as came,
            ):
                return await self._pass_on(came, started, bill)
        except ModelUnavailable as unavailable:
            self.run.give_up(self.taken)
            self.run.unpaid.append(str(unavailable))
            return refused(str(unavailable))
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
        headers = passed_on(came.headers.items())
        if came.headers.get("Content-Type", "").startswith(STREAM):
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
        wire = Wire(came.status, came.headers.get("Content-Type", ""), body)
        bill.free = wire.status >= HTTPStatus.BAD_REQUEST
        if not self._stands(wire):
            self.run.give_up(self.taken)
            return
        unread = self.run.answered(self.taken, wire, seconds)
        if self.run.purse:
            bill.usage = read(unread).reply.usage
        place = self.run.place
        try:
            await self.arrivals.hand_on((place.model, place.file, unread))
        except StoreError as error:
            self.run.unkept.append(str(error))

    def _stands(self, wire: Wire) -> bool:
        """Whether it is an answer; else it is a failure that may pass, such as half a stream."""
        if wire.status >= HTTPStatus.BAD_REQUEST:
            return wire.status in _KEPT
        return not wire.content_type.startswith(STREAM) or self.taken.asked.has_ended(wire.body)
