"""A port that costs nothing until somebody comes."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine
from selectors import EVENT_READ, DefaultSelector
from threading import Thread
from typing import TypeAlias

from pytest_fcall.backends.proxy.in_turn import InTurn

Serve: TypeAlias = Callable[[socket.socket, Coroutine[None, None, object]], Coroutine[None, None, None]]
"""Serves a listening socket until what it is handed comes to its end."""

_BACKLOG = 1024
_PATIENCE = 10.0


class Listening:
    """Listens on loopback from the start; `serve` begins, in a thread with an event loop, with the first connection."""

    def __init__(self, serve: Serve, port: int = 0) -> None:
        self._serve = serve
        self._socket = socket.create_server(("127.0.0.1", port), backlog=_BACKLOG)
        self._stopping, self._stop = socket.socketpair()
        self.port: int = self._socket.getsockname()[1]
        self.met = False
        """Whether anybody came."""
        self._thread = Thread(target=self._run, name="fcall-proxy", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Serve no more. What is under way is given up."""
        self._stop.send(b"x")
        self._thread.join(_PATIENCE)
        for each in (self._socket, self._stopping, self._stop):
            each.close()

    def _run(self) -> None:
        with DefaultSelector() as selector:  # `select` itself knows no descriptor above 1,023
            for each in (self._socket, self._stopping):
                selector.register(each, EVENT_READ)
            ready = [key.fileobj for key, _ in selector.select()]
        if self._socket in ready:
            self.met = True
            with asyncio.Runner(loop_factory=_new_loop) as runner:
                runner.run(self._serve(self._socket, self._told()))

    async def _told(self) -> None:
        self._stopping.setblocking(False)
        await asyncio.get_running_loop().sock_recv(self._stopping, 1)


def _new_loop() -> asyncio.AbstractEventLoop:
    return asyncio.SelectorEventLoop(InTurn())
