"""The process that holds the model and answers all workers: `python -m pytest_fcall.backends.local.process`.

Its order stands on stdin; it says its port on stdout. It ends when its last client is gone, however that came about.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from secrets import compare_digest

from pytest_fcall.backends.fields import as_mapping
from pytest_fcall.backends.local.answerer import Answerer, load
from pytest_fcall.backends.local.batching import Batcher
from pytest_fcall.backends.local.order import TOKEN, Order, Tokens, order_from_data, tokens_from_data
from pytest_fcall.backends.local.wire import (
    encoded,
    failure_to_data,
    read_frame,
    request_from_data,
)
from pytest_fcall.backends.replies import reply_to_data
from pytest_fcall.core import Json

_UNVISITED = 60.0
"""Seconds after which a process that nobody came to ends: who started it must have died."""

Loaded = tuple[Answerer, Batcher]
Answer = asyncio.Task[None]


class Answering:
    """Loads the model once somebody who knows the token has come, and serves all who do."""

    def __init__(self, order: Order, tokens: Tokens) -> None:
        self._order = order
        self._tokens = tokens
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="fcall-engine")
        self._gone = asyncio.Event()
        self._clients = 0
        self._loading: asyncio.Task[Loaded] | None = None

    async def run(self, patience: float) -> None:
        """Serve until the last client is gone, or none has come for so many seconds."""
        loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
        sys.stdout.flush()
        os.dup2(2, 1)  # nobody reads stdout from here on: what libraries print belongs into the log
        loop.call_later(patience, self._end_unless_visited)
        await self._gone.wait()

    def _end_unless_visited(self) -> None:
        if not self._clients:
            self._gone.set()

    async def _loaded(self) -> Loaded:
        if self._loading is None:
            self._loading = asyncio.create_task(self._load())
        return await asyncio.shield(self._loading)

    async def _load(self) -> Loaded:
        loop = asyncio.get_running_loop()
        answerer = await loop.run_in_executor(self._thread, load, self._order.maker, self._order.options)
        return answerer, Batcher(answerer.engine, self._order.batch, self._thread)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(EOFError, OSError):
            if compare_digest(await reader.readexactly(TOKEN), self._tokens.knock.encode()):
                writer.write(self._tokens.welcome.encode())
                await self._serve_client(reader, writer)
        writer.close()

    async def _serve_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read on while requests are answered, so that the end of a client is noticed at once."""
        self._clients += 1
        ready = asyncio.create_task(self._tell_ready(writer))
        answers: dict[Json, Answer] = {}
        try:
            while True:
                frame = await read_frame(reader)
                number = frame.get("number")
                if "request" in frame:
                    answer = asyncio.create_task(self._answer(number, frame["request"], writer))
                    answer.add_done_callback(partial(_forget, answers, number))
                    answers[number] = answer
                elif number in answers:
                    answers[number].cancel()
        finally:
            for task in (ready, *answers.values()):
                task.cancel()
            self._clients -= 1
            self._end_unless_visited()

    async def _tell_ready(self, writer: asyncio.StreamWriter) -> None:
        try:
            await self._loaded()
        except Exception as error:
            await _send(writer, encoded(failure_to_data(error, "it cannot be loaded", "model")))
        else:
            await _send(writer, encoded({"ready": True}))

    async def _answer(self, number: Json, data: Json, writer: asyncio.StreamWriter) -> None:
        answerer, batcher = await self._loaded()
        try:
            request = request_from_data(data)
            reply = answerer.reply(request, await batcher.generate(answerer.prompt(request)))
            told = encoded({"number": number, "reply": reply_to_data(reply)})
        except Exception as error:
            told = encoded({"number": number, **failure_to_data(error, "it failed")})
        await _send(writer, told)


def _forget(answers: dict[Json, Answer], number: Json, _: Answer) -> None:
    answers.pop(number, None)


async def _send(writer: asyncio.StreamWriter, told: bytes) -> None:
    with suppress(OSError):
        writer.write(told)
        await writer.drain()


def main(patience: float = _UNVISITED) -> None:
    """Answer as ordered."""
    told = as_mapping(json.load(sys.stdin), "what is told on stdin")
    asyncio.run(Answering(order_from_data(told.get("order")), tokens_from_data(told.get("tokens"))).run(patience))


if __name__ == "__main__":
    main()
    # An engine may be at work for minutes, and nobody wants what comes of it.
    os._exit(0)
