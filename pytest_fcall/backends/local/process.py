"""The process that holds the model and answers all workers: `python -m pytest_fcall.backends.local.process`.

It reads its specification from stdin and writes its port to stdout. It ends when its last client is gone.
"""

from __future__ import annotations

import asyncio
import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeAlias

from pytest_fcall.backends.local.answerer import Answerer, Feeder, load_answerer
from pytest_fcall.backends.local.process_data import ProcessSpec, process_spec_from_data, request_from_data
from pytest_fcall.backends.processes.protocol import (
    IDLE_SECONDS,
    ClientConnections,
    encode_frame,
    failure_to_data,
    read_frame,
    read_launch_order,
    send_frame,
)
from pytest_fcall.backends.recordings.entry import reply_to_data
from pytest_fcall.core.values import Json

LoadedAnswerer: TypeAlias = tuple[Answerer, Feeder]
AnswerTask: TypeAlias = asyncio.Task[None]


class AnswerServer:
    """Loads the model when the first client arrives, and answers all clients."""

    def __init__(self, spec: ProcessSpec) -> None:
        self._spec = spec
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="fcall-engine")
        self._loading: asyncio.Task[LoadedAnswerer] | None = None
        self._loading_seconds = 0.0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one client. Reading continues meanwhile, so that a client that leaves is noticed at once."""
        ready = asyncio.create_task(self._send_ready(writer))
        answers: dict[Json, AnswerTask] = {}
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

    async def _loaded(self) -> LoadedAnswerer:
        if self._loading is None:
            self._loading = asyncio.create_task(self._load())
        return await asyncio.shield(self._loading)

    async def _load(self) -> LoadedAnswerer:
        loop, start = asyncio.get_running_loop(), time.perf_counter()
        answerer = await loop.run_in_executor(self._thread, load_answerer, self._spec.maker, self._spec.options)
        feeder = await loop.run_in_executor(self._thread, answerer.engine.feeder, self._spec.batch, self._thread)
        self._loading_seconds = time.perf_counter() - start
        return answerer, feeder

    async def _send_ready(self, writer: asyncio.StreamWriter) -> None:
        try:
            await self._loaded()
        except Exception as error:  # the clients are sent any failure
            await send_frame(writer, encode_frame(failure_to_data(error, "the model cannot be loaded", "model")))
        else:
            await send_frame(writer, encode_frame({"ready": True}))

    async def _answer(self, number: Json, data: Json, writer: asyncio.StreamWriter) -> None:
        answerer, feeder = await self._loaded()
        try:
            request = request_from_data(data)
            reply = answerer.reply(request, await feeder.generate(answerer.prompt(request)))
            note = str(answerer.engine.about.get("memory", ""))
            figures = feeder.tally.figures(self._loading_seconds, self._spec.batch, note)
            frame = encode_frame({"number": number, "reply": reply_to_data(reply), "figures": figures.to_data()})
        except Exception as error:  # the client is sent any failure
            frame = encode_frame({"number": number, **failure_to_data(error, "the model failed")})
        await send_frame(writer, frame)


def _forget(answers: dict[Json, AnswerTask], number: Json, _: AnswerTask) -> None:
    answers.pop(number, None)


def main(idle_seconds: float = IDLE_SECONDS) -> None:
    """Answer clients until the last one is gone."""
    # Threads of torch that wait for each other would keep processors busy that others need: on a machine that is not
    # idle, that takes several times as long. The variable is read when torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    launch = read_launch_order()
    server = AnswerServer(process_spec_from_data(launch.spec))

    async def run() -> None:
        await ClientConnections(launch.tokens, server.serve).run(idle_seconds)

    asyncio.run(run())


if __name__ == "__main__":
    main()
    # An engine may still be at work for minutes, on answers that no client needs.
    os._exit(0)
