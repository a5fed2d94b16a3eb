"""The relay of `fcall proxy`: forwards the requests of an app started by hand to a run's proxy or the provider."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from socket import socket

from aiohttp import ClientConnectorError, ClientError, ClientSession, web

from pytest_fcall.backends.answer_body import UnreadableBody
from pytest_fcall.backends.proxy.announcements import announced_proxies
from pytest_fcall.backends.proxy.http import (
    UNKNOWN_CASE_HEADER,
    ProxyAddress,
    end_to_end_headers,
    forward,
    http_server,
    new_client_session,
    stream_on,
)


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
        content = await request.read()
        failure: web.StreamResponse = web.Response(status=HTTPStatus.NOT_FOUND)
        for announcement, url in self._targets(address) if address.token == self._token else ():
            try:
                answer = await _forwarded(session, request, url, content)
            except ClientConnectorError:
                if announcement is not None:  # of a run that was killed
                    announcement.unlink(missing_ok=True)
                continue
            except (ClientError, OSError, UnreadableBody):
                return web.Response(status=HTTPStatus.BAD_GATEWAY)
            if answer is not None:
                return answer
            failure = web.Response(status=HTTPStatus.BAD_REQUEST, text="pytest-fcall: no run knows this request's case")
        return failure

    def _targets(self, address: ProxyAddress) -> Iterator[tuple[Path | None, str]]:
        """The URLs that may answer a request, each with the file that announces it."""
        provider = self._providers.get(address.variable)
        if provider is None:
            return
        query = f"?{address.query}" if address.query else ""
        for announcement, base in announced_proxies(self._root).items():
            yield announcement, f"{base}/{address.variable}{address.path}{query}"
        if not announced_proxies(self._root):  # there was none, or all have turned out to be gone
            yield None, address.at_provider(provider)


async def _forwarded(
    session: ClientSession, request: web.BaseRequest, url: str, content: bytes
) -> web.StreamResponse | None:
    """Stream the answer from `url` to the app; None if the proxy there does not know the case."""
    async with forward(session, request, url, content, end_to_end_headers(request.headers.items())) as answer:
        if UNKNOWN_CASE_HEADER in answer.headers:
            return None
        return await stream_on(request, answer, end_to_end_headers(answer.headers.items()))
