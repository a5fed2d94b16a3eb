"""The process's side: admits clients that know the token, and ends after the last has left."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import compare_digest

from pytest_fcall.backends.processes.protocol import TOKEN_LENGTH, AccessTokens, tokens_from_data
from pytest_fcall.core import Json
from pytest_fcall.core.json_fields import as_mapping, required_field

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

UNVISITED_SECONDS = 60.0
"""Seconds after which a process that nobody came to ends: who started it must have died."""


class Visits:
    """Lets in all who know the token, and is over when the last has gone, however that came about.

    `serve` returns, or raises EOFError, when its visitor is gone.
    """

    def __init__(self, tokens: AccessTokens, serve: Serve) -> None:
        self._tokens = tokens
        self._visit = serve
        self._gone = asyncio.Event()
        self._count = 0

    async def run(self, patience: float) -> None:
        """Say the port, and serve until the last visitor is gone, or none has come for so many seconds."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
        sys.stdout.flush()
        os.dup2(2, 1)  # nobody reads stdout from here on: what libraries print belongs into the log
        asyncio.get_running_loop().call_later(patience, self._end_unless_visited)
        await self._gone.wait()

    def end(self) -> None:
        """Wait for nobody any more."""
        self._gone.set()

    def _end_unless_visited(self) -> None:
        if not self._count:
            self.end()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(EOFError, OSError):
            if compare_digest(await reader.readexactly(TOKEN_LENGTH), self._tokens.knock.encode()):
                writer.write(self._tokens.welcome.encode())
                await self._count_in(reader, writer)
        writer.close()

    async def _count_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._count += 1
        try:
            await self._visit(reader, writer)
        finally:
            self._count -= 1
            self._end_unless_visited()


@dataclass(frozen=True, slots=True)
class LaunchOrder:
    """What a process is told on stdin."""

    order: Json
    tokens: AccessTokens
    """Of those who may come in."""
    place: Path
    """The folder of all processes that carry out this order, one after another."""


def read_launch_order() -> LaunchOrder:
    """Read stdin. Raises Damaged."""
    found = as_mapping(json.load(sys.stdin), "what is told on stdin")
    return LaunchOrder(
        found.get("order"), tokens_from_data(found.get("tokens")), Path(required_field(found, "place", str))
    )


async def send_frame(writer: asyncio.StreamWriter, frame: bytes) -> None:
    """Say it, if anybody is there to hear it."""
    with suppress(OSError):
        writer.write(frame)
        await writer.drain()
