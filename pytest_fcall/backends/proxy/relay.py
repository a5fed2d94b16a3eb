"""The relay of `fcall proxy`: forwards the requests of an app started by hand to a run's proxy or the provider."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from socket import socket

from aiohttp import ClientError, ClientOSError, ClientSession, ServerDisconnectedError, web

from pytest_fcall.backends.http_answers import UnreadableBody
from pytest_fcall.backends.proxy.announcements import announced_proxies
from pytest_fcall.backends.proxy.http import (
    UNKNOWN_CASE_HEADER,
    NotProven,
    ProxyAddress,
    end_to_end_headers,
    forward,
    http_server,
    new_client_session,
    proven_session,
    stream_on,
)
from pytest_fcall.backends.spans.variables import SPANS_VARIABLE

_UNKNOWN = "pytest-fcall: no run knows this request's case"


class Relay:
    """Forwards each request to the run of its case. Without any run, forwards it to the provider."""

    def __init__(self, token: str, root: Path, providers: Mapping[str, str]) -> None:
        self._token = token
        self._root = root
        self._providers = providers

    async def serve(self, listening: socket, end: Coroutine[None, None, object]) -> None:
        """Serve a listening socket until `end` returns."""
        async with new_client_session() as session:

            async def answer(request: web.BaseRequest, address: ProxyAddress) -> web.StreamResponse:
                return await self._answer(session, request, address)

            async with http_server(listening, answer):
                await end

    async def _answer(
        self, session: ClientSession, request: web.BaseRequest, address: ProxyAddress
    ) -> web.StreamResponse:
        if address.token != self._token:
            return web.Response(status=HTTPStatus.NOT_FOUND)
        if address.variable == SPANS_VARIABLE:
            return await self._sent_to_all(request, address)
        provider = self._providers.get(address.variable)
        if provider is None:
            return web.Response(status=HTTPStatus.NOT_FOUND)
        content = await request.read()
        try:
            if (answer := await self._of_a_run(request, address, content)) is not None:
                return answer
            if announced_proxies(self._root):
                return web.Response(status=HTTPStatus.BAD_REQUEST, text=_UNKNOWN)
            # There was none, or all have turned out to be gone.
            return await _forwarded(session, request, address.at_provider(provider), content) or web.Response(
                status=HTTPStatus.BAD_GATEWAY
            )
        except (ClientError, OSError, UnreadableBody):
            return web.Response(status=HTTPStatus.BAD_GATEWAY)

    async def _of_a_run(
        self, request: web.BaseRequest, address: ProxyAddress, content: bytes
    ) -> web.StreamResponse | None:
        """The answer of the run that knows the case of a request; None if no run does."""
        query = f"?{address.query}" if address.query else ""
        broken_off = None
        for announcement, base in announced_proxies(self._root).items():
            url = f"{base}/{address.variable}{address.path}{query}"
            try:
                async with proven_session(base) as proven:
                    answer = await _forwarded(proven, request, url, content)
            except NotProven:
                announcement.unlink(missing_ok=True)  # of a run that was killed
            except (ServerDisconnectedError, ClientOSError) as error:
                broken_off = error  # the run ends meanwhile: the case may be one of another
            else:
                if answer is not None:
                    return answer
        if broken_off is not None:
            raise broken_off
        return None

    async def _sent_to_all(self, request: web.BaseRequest, address: ProxyAddress) -> web.StreamResponse:
        """Send a message with spans to all runs, as it may hold some of each."""
        content, headers = await request.read(), end_to_end_headers(request.headers.items())
        statuses: list[int] = []
        for base in announced_proxies(self._root).values():
            with suppress(ClientError, OSError):  # a run that was killed, or that ends
                async with (
                    proven_session(base) as proven,
                    forward(proven, request, f"{base}/{address.variable}{address.path}", content, headers) as answer,
                ):
                    statuses.append(answer.status)
        return web.Response(status=max(statuses, default=HTTPStatus.BAD_GATEWAY), content_type=request.content_type)


async def _forwarded(
    session: ClientSession, request: web.BaseRequest, url: str, content: bytes
) -> web.StreamResponse | None:
    """Stream the answer from `url` to the app; None if the proxy there does not know the case."""
    async with forward(session, request, url, content, end_to_end_headers(request.headers.items())) as answer:
        if UNKNOWN_CASE_HEADER in answer.headers:
            return None
        return await stream_on(request, answer, end_to_end_headers(answer.headers.items()))
