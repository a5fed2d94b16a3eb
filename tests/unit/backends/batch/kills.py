"""Ends a process at one of the points where a kill could do harm: around each request, write and kept reply."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from aiohttp import ClientResponse
from yarl import URL

from pytest_fcall.backends.openai.client import Connections, Sent
from pytest_fcall.backends.store import ReplyStore
from pytest_fcall.core import files

_exchange = Connections.exchange
_put = ReplyStore.put


class Points:
    """Counts the points, and calls `kill` at one of them."""

    def __init__(self, fatal: int, kill: Callable[[], None]) -> None:
        self.passed = 0
        self._fatal = fatal
        self._kill = kill

    def _point(self) -> None:
        if self.passed == self._fatal:
            self._kill()
        self.passed += 1

    def patched(self) -> Any:
        points = self

        @asynccontextmanager
        async def exchange(
            self: Connections, method: str, url: URL, headers: Mapping[str, str], body: Sent
        ) -> AsyncIterator[ClientResponse]:
            points._point()
            async with _exchange(self, method, url, headers, body) as response:
                points._point()
                yield response

        def replace_file(path: Path, portions: Any, mode: int = 0o666) -> None:
            points._point()
            files.replace_file(path, portions, mode)
            points._point()

        def put(self: ReplyStore, *reply: Any) -> None:
            points._point()
            _put(self, *reply)
            self.flush()
            points._point()

        return (
            patch.multiple(Connections, exchange=exchange),
            patch("pytest_fcall.backends.batch.portion.replace_file", replace_file),
            (patch.object(ReplyStore, "put", put)),
        )
