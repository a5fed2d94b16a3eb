"""The server: HTTP/1.1 over asyncio, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from tests.servers.answer import Answer, Asked, Responder
from tests.servers.completions import chat, responses
from tests.servers.faults import provider_error
from tests.servers.listener import PATIENCE, Listener

LONGEST_BODY = 64_000_000
LOOPBACK_CERTIFICATE = Path(__file__).parent / "loopback.pem"
"""A certificate for 127.0.0.1 and its key, which everybody knows: it protects nothing."""


def echo(asked: Asked) -> Answer:
    """Make the calls that the user spells out in JSON, `[{"name": …, "arguments": …}]`; say anything else back."""
    if asked.path.endswith("/chat/completions"):
        make, said = chat, asked.json["messages"][-1]["content"]
    elif asked.path.endswith("/responses"):
        given = asked.json["input"]
        make, said = responses, given if isinstance(given, str) else given[-1]["content"]
    else:
        return provider_error(404, f"no such path: {asked.path}")
    with contextlib.suppress(ValueError, TypeError, KeyError):
        return make(calls=[(call["name"], call["arguments"]) for call in json.loads(said)])
    return make(f"You said: {said}")


class Server(Listener):
    """Answers as scripted, then by `default`; keeps what it was asked, in the order in which it arrived."""

    def __init__(
        self,
        default: Responder = echo,
        port: int = 0,
        certificate: Path | None = None,
        address: str = "127.0.0.1",
    ) -> None:
        super().__init__(port, certificate, address)
        self.default = default
        self.asked: list[Asked] = []
        self.connections = 0
        self._script: deque[Answer] = deque()
        self._news = threading.Condition()
        self._open = asyncio.Event()
        self._open.set()

    @property
    def url(self) -> str:
        """What a client takes as `base_url`."""
        return f"http{'s' if self._certificate else ''}://{self.host}/v1"

    def script(self, *answers: Answer) -> None:
        """Give these answers to the next requests, one each, in the order in which they arrive."""
        self._script.extend(answers)

    def wait_for(self, count: int) -> None:
        """Return once so many requests have arrived in all."""
        with self._news:
            if not self._news.wait_for(lambda: len(self.asked) >= count, PATIENCE):
                raise AssertionError(f"{len(self.asked)} requests arrived, not {count}")

    @contextlib.contextmanager
    def holding(self) -> Iterator[None]:
        """Answer nothing inside the block; what arrived meanwhile is answered at its end."""
        self._loop.call_soon_threadsafe(self._open.clear)
        try:
            yield
        finally:
            self._loop.call_soon_threadsafe(self._open.set)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await self._conversation(self.connections, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _conversation(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ending = "keep"
        while ending in {"keep", "drop"}:
            asked = await _read(number, reader)
            if ending == "drop":
                _reset(writer)
                return
            ending = await self._answer(asked, writer)

    async def _answer(self, asked: Asked, writer: asyncio.StreamWriter) -> str:
        with self._news:
            self.asked.append(asked)
            self._news.notify_all()
        answer = self._script.popleft() if self._script else self.default(asked)
        await self._open.wait()
        if answer.latency:
            await asyncio.sleep(answer.latency)
        if answer.head:
            await _say(answer, writer)
            asked.answered = time.monotonic()
        if answer.ending == "hang":
            await self._stop.wait()
        elif answer.ending == "reset":
            _reset(writer)
        return answer.ending


async def _read(connection: int, reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    length = int(headers.get("content-length", "0"))
    if length > LONGEST_BODY or "transfer-encoding" in headers:
        raise ConnectionError("this server reads bodies of a known, moderate length only")
    body = await reader.readexactly(length)
    return Asked(method, path, headers, body, connection, time.monotonic())


async def _say(answer: Answer, writer: asyncio.StreamWriter) -> None:
    length = {"transfer-encoding": "chunked"} if answer.chunked else {"content-length": str(len(answer.body))}
    length = {} if answer.unmeasured else length
    named = {"content-type": answer.content_type} if answer.content_type else {}
    headers = named | length | dict(answer.headers)
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {answer.status} {http.client.responses.get(answer.status, 'Unknown')}\r\n{head}\r\n"
    body = answer.body if answer.sent is None else answer.body[: answer.sent]
    writer.write(head.encode("latin-1"))
    if answer.drip is None:
        writer.write(_piece(body, answer))
    else:
        for byte in body:
            writer.write(_piece(bytes([byte]), answer))
            await writer.drain()
            await asyncio.sleep(answer.drip)
    if answer.chunked and answer.sent is None:
        writer.write(b"0\r\n\r\n")
    await writer.drain()


def _piece(data: bytes, answer: Answer) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data) if answer.chunked and data else data


def _reset(writer: asyncio.StreamWriter) -> None:
    """Break the connection so that the client sees a reset, not an end."""
    connected: socket.socket = writer.get_extra_info("socket")
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
