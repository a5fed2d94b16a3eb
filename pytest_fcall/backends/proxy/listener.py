"""The proxy's port, which costs little before the first connection, and a selector that takes turns."""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Callable, Coroutine
from selectors import EVENT_READ, DefaultSelector, SelectorKey
from threading import Thread
from typing import TypeAlias

_AT_ONCE = 2
"""Fewer cost the loop more rounds, and replies more transactions; with more, calls wait longer for each other."""


class FewAtOnceSelector(DefaultSelector):
    """Tells an event loop of a few ready sockets at a time, in the order in which they were found ready.

    A loop takes all that it is told of one step further, then all of them the next step. So of many calls that come
    at once the first is done hardly before the last; and as they leave together, their answers come together, and so
    on for ever. Where the first are done first, calls draw apart and soon have nobody to wait for.
    """

    def __init__(self) -> None:
        super().__init__()
        self._found: deque[tuple[SelectorKey, int]] = deque()

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        """The next that are ready; the system is asked again once all that it told of have had their turn."""
        if not self._found:
            self._found.extend(super().select(timeout))
        turn = [self._found.popleft() for _ in range(min(_AT_ONCE, len(self._found)))]
        known = self.get_map()
        # What was closed since then, or is waited for otherwise, has another key or none.
        return [(key, events) for key, events in turn if known.get(key.fd) is key]


Serve: TypeAlias = Callable[[socket.socket, Coroutine[None, None, object]], Coroutine[None, None, None]]
"""Serves a listening socket until what it is handed comes to its end."""

_BACKLOG = 1024
_JOIN_SECONDS = 10.0


class LazyListener:
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
        self._thread.join(_JOIN_SECONDS)
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
    return asyncio.SelectorEventLoop(FewAtOnceSelector())
