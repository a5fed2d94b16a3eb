"""A server that says any bytes, for as long as its client listens, where `tests.servers` speaks HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterable
from itertools import islice

from tests.servers.listener import Listener

Speech = Callable[[], Iterable[bytes]]
MOST_PIECES = 50_000
"""A client that has listened to so many pieces of an endless speech would listen for ever."""


class RawServer(Listener):
    """Answers questions that contain `attack` by the speech, and others by `echo`, both in bytes."""

    def __init__(self, speech: Speech, echo: Callable[[str], bytes]) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.exhausted = False
        """Whether a client has listened to the whole of a speech that is too long."""
        self._speech = speech
        self._echo = echo

    @property
    def url(self) -> str:
        return f"http://{self.host}/v1"

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            question = await _question(reader)
            self.asked.append(question)
            if "attack" in question:
                await self._speak(writer)
            else:
                body = self._echo(question)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n")
                writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                await writer.drain()
        writer.close()

    async def _speak(self, writer: asyncio.StreamWriter) -> None:
        said = 0
        for piece in islice(self._speech(), MOST_PIECES):
            writer.write(piece)
            await writer.drain()
            said += 1
        self.exhausted = self.exhausted or said == MOST_PIECES


async def _question(reader: asyncio.StreamReader) -> str:
    """The last message of a request."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = int(head.partition("content-length:")[2].partition("\r\n")[0])
    messages = json.loads(await reader.readexactly(length))["messages"]
    return str(messages[-1]["content"])
