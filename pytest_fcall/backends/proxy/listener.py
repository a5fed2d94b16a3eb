"""The proxy's port, which costs little before the first connection, and a selector that takes turns."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable, Coroutine
from selectors import EVENT_READ, DefaultSelector, SelectorKey
from threading import Thread
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

Serve: TypeAlias = Callable[[socket.socket, Coroutine[None, None, object]], Coroutine[None, None, None]]
"""Serves a listening socket until the coroutine returns."""

_BACKLOG = 1024
_JOIN_SECONDS = 10.0
_THREADS = "fcall-proxy"
_AT_ONCE = 2
"""Ready sockets per round. With fewer, the loop has more rounds and the store more transactions; with more, requests
wait longer for each other."""


class LazyListener:
    """Listens on loopback from the start; `serve` starts in a thread with an event loop at the first connection."""

    def __init__(self, serve: Serve, port: int = 0) -> None:
        self._serve = serve
        self._socket = socket.create_server(("127.0.0.1", port), backlog=_BACKLOG)
        self._stopping, self._stop = socket.socketpair()
        self.port: int = self._socket.getsockname()[1]
        self.was_used = False
        """Whether there was a connection."""
        self._thread = Thread(target=self._run, name=_THREADS, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving. Requests under way are cancelled."""
        self._stop.send(b"x")
        self._thread.join(_JOIN_SECONDS)
        for each in (self._socket, self._stopping, self._stop):
            each.close()

    def _run(self) -> None:
        with DefaultSelector() as selector:  # select.select() has a limit of 1,023 descriptors
            for each in (self._socket, self._stopping):
                selector.register(each, EVENT_READ)
            ready = [key.fileobj for key, _ in selector.select()]
        if self._socket in ready:
            import asyncio  # most apps under test send nothing, and this takes a tenth of a short run

            self.was_used = True
            with asyncio.Runner(loop_factory=_new_loop) as runner:
                runner.run(self._serve(self._socket, self._until_closed()))

    async def _until_closed(self) -> None:
        from asyncio import get_running_loop

        self._stopping.setblocking(False)
        await get_running_loop().sock_recv(self._stopping, 1)


def _new_loop() -> AbstractEventLoop:
    from asyncio import SelectorEventLoop
    from concurrent.futures import ThreadPoolExecutor

    loop = SelectorEventLoop(FewAtOnceSelector())
    loop.set_default_executor(ThreadPoolExecutor(thread_name_prefix=_THREADS))  # its threads are known by their name
    return loop


class FewAtOnceSelector(DefaultSelector):
    """Passes only a few ready sockets at a time to an event loop, in the order in which they became ready.

    An event loop takes all ready sockets one step further, then all of them the next step. If many requests arrive at
    once, the first one is therefore answered hardly before the last; as their answers leave together, the next
    requests arrive together, and so on. If the first are answered first, the requests spread out and soon do not wait
    for each other.
    """

    def __init__(self) -> None:
        super().__init__()
        self._ready: deque[tuple[SelectorKey, int]] = deque()

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        """The next ready sockets. The system is asked again after all earlier ones have had their turn."""
        if not self._ready:
            self._ready.extend(super().select(timeout))
        turn = [self._ready.popleft() for _ in range(min(_AT_ONCE, len(self._ready)))]
        registered = self.get_map()
        # A socket that was closed or registered anew since then has no key or another one.
        return [(key, events) for key, events in turn if registered.get(key.fd) is key]
