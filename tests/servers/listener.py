"""What servers on loopback have in common: a thread with an event loop, a port, and an end."""

from __future__ import annotations

import asyncio
import ssl
import threading
from abc import ABC, abstractmethod
from concurrent.futures import Future
from pathlib import Path
from typing import Self

PATIENCE = 60.0
_TURNS = 5
"""Turns of the event loop that it takes to accept a connection. Where the server is closed meanwhile, asyncio never
closes the connection, and some later test would fail for it."""


class Listener(ABC):
    """Listens while it is entered, and breaks off what is left of its connections."""

    def __init__(self, port: int = 0, certificate: Path | None = None, address: str = "127.0.0.1") -> None:
        self._wanted = port
        self._address = address
        self._certificate = certificate
        self._port: Future[int] = Future()
        self._writers: set[asyncio.StreamWriter] = set()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._port.result(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE)

    @property
    def host(self) -> str:
        """Its address and port."""
        return f"{self._address}:{self._port.result()}"

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        tls = None
        if self._certificate:
            tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            tls.load_cert_chain(self._certificate)
        listening = await asyncio.start_server(self._accepted, self._address, self._wanted, backlog=1024, ssl=tls)
        self._port.set_result(listening.sockets[0].getsockname()[1])
        await self._stop.wait()
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        listening.close()
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.sleep(0)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        await self._connection(reader, writer)

    @abstractmethod
    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
