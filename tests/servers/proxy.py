"""An HTTP proxy on loopback: it forwards plain requests, and tunnels what is encrypted."""

from __future__ import annotations

import asyncio
import contextlib
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.servers.listener import Listener


@dataclass(frozen=True)
class Passed:
    """What a client asked of the proxy."""

    method: str
    target: str
    """As it stood in the request: an address, or host and port of a tunnel."""
    headers: Mapping[str, str]
    """By names in lower case."""


class Proxy(Listener):
    """Keeps what it was asked; lets nobody through without `credentials`, and nobody into a tunnel if it `refuses`."""

    def __init__(self, credentials: str = "", refuses: int | None = None) -> None:
        super().__init__()
        self.passed: list[Passed] = []
        self._credentials = credentials
        self._refuses = refuses

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            passed = await _read(reader)
            self.passed.append(passed)
            wanted = f"Basic {b64encode(self._credentials.encode()).decode()}"
            if self._credentials and passed.headers.get("proxy-authorization") != wanted:
                writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            elif passed.method == "CONNECT" and self._refuses:
                writer.write(f"HTTP/1.1 {self._refuses} No\r\nContent-Length: 0\r\n\r\n".encode())
            else:
                there, back = await _connected(passed, writer)
                self._writers.add(back)
                await asyncio.gather(_copy(reader, back), _copy(there, writer))
        writer.close()


async def _read(reader: asyncio.StreamReader) -> Passed:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines)
    return Passed(method, target, {name.lower(): value.strip() for name, _, value in pairs})


async def _connected(passed: Passed, writer: asyncio.StreamWriter) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to the server, which has heard of the request if it is no tunnel."""
    is_tunnel = passed.method == "CONNECT"
    address = urlsplit(f"//{passed.target}" if is_tunnel else passed.target)
    there, back = await asyncio.open_connection(address.hostname, address.port)
    if is_tunnel:
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    else:
        headers = {name: value for name, value in passed.headers.items() if not name.startswith("proxy-")}
        lines = [f"{passed.method} {address.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        back.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
    return there, back


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while piece := await source.read(2**16):
            target.write(piece)
            await target.drain()
    target.close()
