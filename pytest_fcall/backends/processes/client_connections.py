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
from typing import TypeAlias

from pytest_fcall.backends.processes.protocol import TOKEN_LENGTH, AccessTokens, tokens_from_data
from pytest_fcall.core import Json
from pytest_fcall.core.json_data import as_mapping, required_field

Serve: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

IDLE_SECONDS = 60.0
"""Seconds after which a process without a client ends: the process that started it must have died."""


@dataclass(frozen=True, slots=True)
class LaunchOrder:
    """The text that a process reads from stdin when it starts."""

    spec: Json
    """Its task, in the form of the module that is run."""
    tokens: AccessTokens
    folder: Path
    """Shared by all processes of this specification, one after another."""


def read_launch_order() -> LaunchOrder:
    """Read stdin. Raises DamagedData."""
    fields = as_mapping(json.load(sys.stdin), "the content of stdin")
    return LaunchOrder(
        fields.get("spec"), tokens_from_data(fields.get("tokens")), Path(required_field(fields, "folder", str))
    )


class ClientConnections:
    """Admits clients that know the token, and ends after the last has left, for whatever reason.

    `serve` serves one client. It returns, or raises EOFError, when the client is gone.
    """

    def __init__(self, tokens: AccessTokens, serve: Serve) -> None:
        self._tokens = tokens
        self._serve = serve
        self._ended = asyncio.Event()
        self._clients = 0

    async def run(self, idle_seconds: float) -> None:
        """Print the port, and serve until the last client is gone, or none has come for so many seconds."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
        sys.stdout.flush()
        os.dup2(2, 1)  # stdout is not read any more: what libraries print belongs into the log
        asyncio.get_running_loop().call_later(idle_seconds, self._end_if_idle)
        await self._ended.wait()

    def end(self) -> None:
        """End, whether there are clients or not."""
        self._ended.set()

    def _end_if_idle(self) -> None:
        if not self._clients:
            self.end()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(EOFError, OSError):
            if compare_digest(await reader.readexactly(TOKEN_LENGTH), self._tokens.client.encode()):
                writer.write(self._tokens.server.encode())
                self._clients += 1
                try:
                    await self._serve(reader, writer)
                finally:
                    self._clients -= 1
                    self._end_if_idle()
        writer.close()


async def send_frame(writer: asyncio.StreamWriter, frame: bytes) -> None:
    """Send a frame, unless the client is gone."""
    with suppress(OSError):
        writer.write(frame)
        await writer.drain()
