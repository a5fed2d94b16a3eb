"""The HTTP client of `openai:NAME`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_fcall.backends.openai.server_answer import ServerAnswer
from pytest_fcall.backends.provider_failures import ProviderFailure

if TYPE_CHECKING:
    from pytest_fcall.backends.openai.http_sender import HttpSender


class Client:
    """Sends requests to one server, with an HttpSender for each event loop."""

    def __init__(self, url: str, key: str, headers: Mapping[str, str]) -> None:
        self._url = url
        self._key = key
        self._headers = headers
        self._senders: dict[asyncio.AbstractEventLoop, HttpSender] = {}

    def open(self) -> None:
        """Prepare the current event loop; the first call imports what sends requests, which is slow."""
        self._sender()

    async def post(
        self, path: str, body: bytes, headers: Mapping[str, str], timeout: float
    ) -> ServerAnswer | ProviderFailure:
        """Send `body` to `path`. A broken connection or a timeout is returned as a failure."""
        try:
            async with asyncio.timeout(timeout):
                return await self._sender().send(path, body, headers)
        except TimeoutError:
            return ProviderFailure(f"no answer came within {timeout:g} s", codes=frozenset({"timeout"}), billable=True)

    async def close(self) -> None:
        """Close all connections. Those of a closed event loop are gone already."""
        while self._senders:
            _, sender = self._senders.popitem()
            with suppress(RuntimeError):
                await sender.close()

    def _sender(self) -> HttpSender:
        from pytest_fcall.backends.openai.http_sender import HttpSender

        loop = asyncio.get_running_loop()
        if (sender := self._senders.get(loop)) is None:
            sender = self._senders[loop] = HttpSender(self._url, self._key, self._headers)
        return sender
