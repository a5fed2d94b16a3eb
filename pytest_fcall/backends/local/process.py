"""The process that holds the model and answers all workers: `python -m pytest_fcall.backends.local.process`.

Its order stands on stdin; it says its port on stdout. It ends when its last client is gone, however that came about.
"""

from __future__ import annotations

import asyncio
import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from pytest_fcall.backends.local.answerer import Answerer, Feeder, load_answerer
from pytest_fcall.backends.local.process_data import ProcessSpec, process_spec_from_data, request_from_data
from pytest_fcall.backends.processes.protocol import encode_frame, failure_to_data, read_frame
from pytest_fcall.backends.processes.visits import UNVISITED_SECONDS, Visits, read_launch_order, send_frame
from pytest_fcall.backends.recordings.entry import reply_to_data
from pytest_fcall.core import Json

Loaded = tuple[Answerer, Feeder]
Answer = asyncio.Task[None]


class AnswerServer:
    """Loads the model once somebody has come, and answers all who do."""

    def __init__(self, order: ProcessSpec) -> None:
        self._order = order
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="fcall-engine")
        self._loading: asyncio.Task[Loaded] | None = None
        self._seconds = 0.0
        """What loading took."""

    async def _loaded(self) -> Loaded:
        if self._loading is None:
            self._loading = asyncio.create_task(self._load())
        return await asyncio.shield(self._loading)

    async def _load(self) -> Loaded:
        loop, start = asyncio.get_running_loop(), time.perf_counter()
        answerer = await loop.run_in_executor(self._thread, load_answerer, self._order.maker, self._order.options)
        feeder = await loop.run_in_executor(self._thread, answerer.engine.feeder, self._order.batch, self._thread)
        self._seconds = time.perf_counter() - start
        return answerer, feeder

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read on while requests are answered, so that the end of a client is noticed at once."""
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

    async def _tell_ready(self, writer: asyncio.StreamWriter) -> None:
        try:
            await self._loaded()
        except Exception as error:
            await send_frame(writer, encode_frame(failure_to_data(error, "it cannot be loaded", "model")))
        else:
            await send_frame(writer, encode_frame({"ready": True}))

    async def _answer(self, number: Json, data: Json, writer: asyncio.StreamWriter) -> None:
        answerer, feeder = await self._loaded()
        try:
            request = request_from_data(data)
            reply = answerer.reply(request, await feeder.generate(answerer.prompt(request)))
            figures = feeder.tally.figures(
                self._seconds, self._order.batch, str(answerer.engine.about.get("memory", ""))
            )
            frame = encode_frame({"number": number, "reply": reply_to_data(reply), "figures": figures.to_data()})
        except Exception as error:
            frame = encode_frame({"number": number, **failure_to_data(error, "it failed")})
        await send_frame(writer, frame)


def _forget(answers: dict[Json, Answer], number: Json, _: Answer) -> None:
    answers.pop(number, None)


def main(patience: float = UNVISITED_SECONDS) -> None:
    """Answer as ordered."""
    # Threads of torch that wait for each other would keep processors busy which others need: on a machine that is not
    # idle, that takes several times as long. It is read when torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    given = read_launch_order()
    answering = AnswerServer(process_spec_from_data(given.spec))

    async def run() -> None:
        await Visits(given.tokens, answering.serve).run(patience)

    asyncio.run(run())


if __name__ == "__main__":
    main()
    # An engine may be at work for minutes, and nobody wants what comes of it.
    os._exit(0)
