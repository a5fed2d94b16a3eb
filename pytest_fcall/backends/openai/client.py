"""The HTTP client of `openai:NAME`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from pytest_fcall.backends.openai.server_answer import ServerAnswer
from pytest_fcall.backends.provider_failures import ProviderFailure


class _Sender(Protocol):
    async def send(self, path: str, body: bytes, headers: Mapping[str, str]) -> ServerAnswer | ProviderFailure: ...

    async def close(self) -> None: ...


class Client:
    """Sends requests to one server, with connections of its own for each event loop.

    A DirectSender sends them. Where anything but the server takes part, a proxy or the target of a redirect, it is
    a LibrarySender.
    """

    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._key = key
        self._needs_library = _is_behind_proxy(url)
        self._senders: dict[tuple[asyncio.AbstractEventLoop, bool], _Sender] = {}

    def open(self) -> None:
        """Prepare the current event loop; the first call imports what sends requests, which is slow."""
        self._sender()

    async def post(
        self, path: str, body: bytes, headers: Mapping[str, str], timeout: float
    ) -> ServerAnswer | ProviderFailure:
        """Send `body` to `path`. A broken connection or a timeout is returned as a failure."""
        try:
            async with asyncio.timeout(timeout):
                answer = await self._sender().send(path, body, headers)
                if isinstance(answer, ServerAnswer) and answer.redirects:
                    self._needs_library = True
                    answer = await self._sender().send(path, body, headers)
                return answer
        except TimeoutError:
            return ProviderFailure(f"no answer came within {timeout:g} s", codes=frozenset({"timeout"}), billable=True)

    async def close(self) -> None:
        """Close all connections. Those of a closed event loop are gone already."""
        while self._senders:
            _, sender = self._senders.popitem()
            with suppress(RuntimeError):
                await sender.close()

    def _sender(self) -> _Sender:
        key = asyncio.get_running_loop(), self._needs_library
        if (sender := self._senders.get(key)) is None:
            sender = self._senders[key] = self._new_sender()
        return sender

    def _new_sender(self) -> _Sender:
        if self._needs_library:
            from pytest_fcall.backends.openai.library_sender import LibrarySender

            return LibrarySender(self._url, self._key)
        from pytest_fcall.backends.openai.direct_sender import DirectSender

        return DirectSender(self._url, self._key)


def _is_behind_proxy(url: str) -> bool:
    """Whether the environment may name a proxy for `url`. The openai library reads its variables more closely."""
    address = urlsplit(url)
    proxies = getproxies()
    return bool(proxies.get(address.scheme) or proxies.get("all")) and not proxy_bypass(address.netloc)
