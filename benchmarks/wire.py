"""The ends of the wire, as light as they can be, so that what is measured is what stands between them.

`python -m benchmarks.wire server SECONDS` answers after so many seconds, `proxy URL FOLDER` is the proxy before it,
with a store in a folder, and `aiohttp URL` does nothing but pass on. Each says its address in a line, and to each line
that it reads the CPU seconds that it took.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import Coroutine
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from socket import socket
from typing import Any

from benchmarks.projects import tool
from pytest_fcall.backends.proxy.app_run import AppRun, RequestOrigin
from pytest_fcall.backends.proxy.case_lookup import AppRuns
from pytest_fcall.backends.proxy.http import ProxyAddress, forward, http_server, new_client_session
from pytest_fcall.backends.proxy.listener import LazyListener
from pytest_fcall.backends.proxy.proxy import Proxy
from pytest_fcall.backends.recordings.entry import Recording
from pytest_fcall.backends.store import ReplyStore, store_path

_ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1_790_000_000,
    "model": "exam-1",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "tool_1", "arguments": '{"city": "Oslo"}'}}
                ],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {"prompt_tokens": 310, "completion_tokens": 21, "total_tokens": 331},
}


def question(number: int) -> bytes:
    """The body of a request that differs from all others."""
    said = [
        {"role": "system", "content": "You know the weather. " * 20},
        {"role": "user", "content": f"City {number}?"},
    ]
    tools = [{"type": "function", "function": tool(n)} for n in range(3)]
    return json.dumps({"model": "exam-1", "messages": said, "tools": tools, "temperature": 0}).encode()


class _Messages(asyncio.Protocol):
    """Gathers what comes until a whole message of HTTP is there, which says its length."""

    def __init__(self) -> None:
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, separator, body = self._buffer.partition(b"\r\n\r\n")
        if separator and len(body) >= int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]):
            self._buffer = b""
            self.whole(head)

    def whole(self, head: bytes) -> None:
        """Take a message, told by its head."""
        raise NotImplementedError(head)


class _Answering(_Messages):
    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    def whole(self, _: bytes) -> None:
        asyncio.get_running_loop().call_later(self._seconds, self.transport.write, _said(b"HTTP/1.1 200 OK", _BODY))


_BODY = json.dumps(_ANSWER).encode()


def _said(first: bytes, body: bytes) -> bytes:
    return b"%b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (first, len(body), body)


@dataclass(slots=True)
class Asking:
    """Asks `count` questions of an address, `in_flight` at a time, each on a connection that is kept."""

    address: tuple[str, int]
    path: str
    count: int
    in_flight: int
    seconds: list[float] = field(default_factory=list)
    """What each call took."""

    async def ask(self) -> None:
        """Ask them all."""
        numbers = iter(range(self.count))
        await asyncio.gather(*(self._connection(numbers) for _ in range(self.in_flight)))

    async def _connection(self, numbers: Any) -> None:
        loop = asyncio.get_running_loop()
        _, asked = await loop.create_connection(_Asked, *self.address)
        for number in numbers:
            written = _said(f"POST {self.path}/chat/completions HTTP/1.1\r\nHost: x".encode(), question(number))
            started = time.perf_counter()
            asked.answered = loop.create_future()
            asked.transport.write(written)
            head = await asked.answered
            self.seconds.append(time.perf_counter() - started)
            if not head.startswith(b"HTTP/1.1 200"):
                raise ConnectionError(head.decode())
        asked.transport.close()


class _Asked(_Messages):
    answered: asyncio.Future[bytes]

    def whole(self, head: bytes) -> None:
        self.answered.set_result(head)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.answered.done():
            self.answered.set_exception(error or ConnectionError("the connection was closed"))


@dataclass(slots=True)
class _Tape:
    store: ReplyStore

    def find(self, digest: str) -> Recording | None:
        return self.store.find(digest)

    def all(self) -> list[Recording]:
        return []

    def check(self) -> None:
        self.store.try_out()


def _server(seconds: float) -> None:
    async def serve(listening: socket, _: object) -> None:
        serving = await asyncio.get_running_loop().create_server(lambda: _Answering(seconds), sock=listening)
        await serving.serve_forever()

    with closing(socket()) as listening:
        listening.bind(("127.0.0.1", 0))
        thread = threading.Thread(target=lambda: asyncio.run(serve(listening, None)), daemon=True)
        thread.start()
        _tell(f"http://127.0.0.1:{listening.getsockname()[1]}/v1")


def _proxy(url: str, folder: str) -> None:
    with closing(ReplyStore(store_path(Path(folder)))) as store:
        runs = AppRuns()
        place = RequestOrigin("wire:python:app:answer", "cases/many.fc.yaml", "one")
        runs.add(lambda: AppRun(place, _Tape(store), live=True, providers={"OPENAI_BASE_URL": url}), runs.in_process)
        with closing(LazyListener(Proxy(runs, store.put_all).serve)) as listening:
            _tell(f"http://127.0.0.1:{listening.port}/{runs.in_process}/OPENAI_BASE_URL/v1")


def _aiohttp(url: str) -> None:
    from aiohttp import web

    async def serve(listening: socket, end: Coroutine[None, None, object]) -> None:
        async def answer(request: web.BaseRequest, way: ProxyAddress) -> web.Response:
            async with forward(session, request, f"{url}{way.path}", await request.read()) as came:
                return web.Response(status=came.status, body=await came.read())

        async with new_client_session() as session, http_server(listening, answer):
            await end

    with closing(LazyListener(serve)) as listening:
        _tell(f"http://127.0.0.1:{listening.port}/x/y")


def _tell(address: str) -> None:
    print(address, flush=True)
    for _ in sys.stdin:
        print(time.process_time(), flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["server", seconds]:
            _server(float(seconds))
        case ["aiohttp", url]:
            _aiohttp(url)
        case ["proxy", url, folder]:
            _proxy(url, folder)
