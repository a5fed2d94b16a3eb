"""The backend of a local model, and its connection to the process that holds the model. All workers share that
process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path

from pytest_fcall.backends.local.answerer import WorkFigures, figures_from_data
from pytest_fcall.backends.local.process_data import ProcessSpec, request_to_data, written_request
from pytest_fcall.backends.local.settings import ignored_settings
from pytest_fcall.backends.processes.launcher import Launcher, users_folder
from pytest_fcall.backends.processes.protocol import MessageFrame, encode_frame, failure_from_data, read_frame
from pytest_fcall.backends.recordings.entry import reply_from_data
from pytest_fcall.core.backend import CaseRefused, Model, ModelUnavailable, Unanswered
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json

_PROCESS_MODULE = "pytest_fcall.backends.local.process"


class LocalBackend:
    """Sends requests to the model's process, which the first request starts or finds.

    `settings` are those that the reply depends on. Processes are found through files in `folder`.
    """

    reusable = True
    ahead = True

    def __init__(
        self, model: Model, spec: ProcessSpec, settings: Mapping[str, Json], folder: Path | None = None
    ) -> None:
        self.settings = settings
        self._model = model
        self._spec = spec
        self._launcher = Launcher(_PROCESS_MODULE, spec.to_data(), folder or users_folder())
        self._connection: asyncio.Task[Connection] | None = None

    async def complete(self, request: Request) -> Reply:
        """Answer `request`; the reply's time is that of its batch in the engine."""
        connection = await self._connected()
        return await connection.ask(request)

    def check(self) -> None:
        """Raise ModelUnavailable where the weights or a library are missing."""
        from pytest_fcall.backends.local.libraries import check_installed
        from pytest_fcall.backends.local.prompts import find_weights_of

        try:
            find_weights_of(self._spec.options)
            check_installed("torch", "transformers")
        except ModelUnavailable as error:
            raise ModelUnavailable(f"{self._model.id}: {error}") from None

    def changes(self, request: Request) -> list[str]:
        """The settings of a request that are ignored, one line each."""
        return ignored_settings(self.settings, request.settings)

    def prompt(self, request: Request) -> str:
        """The prompt of a request. Loads the model's tokenizer. Raises ModelUnavailable, CaseRefused."""
        from pytest_fcall.backends.local.prompts import load_prompts

        return load_prompts(self._spec.options).prompt_text(written_request(request))

    def throughput(self) -> tuple[int, str] | None:
        """The number of prompts that the process has answered for all workers, and a text about its speed."""
        connection = self._connection
        if connection is None or not connection.done() or connection.cancelled() or connection.exception():
            return None
        figures = connection.result().figures
        return (figures.prompts, figures.text()) if figures else None

    async def close(self) -> None:
        """Leave the process, which ends with its last client."""
        if self._connection is not None:
            with suppress(Exception):
                await (await self._connection).close()

    async def _connected(self) -> Connection:
        """The one connection, made anew if it has failed or ended."""
        if self._connection is None or _has_ended(self._connection):
            self._connection = asyncio.create_task(connect(self._model.id, self._launcher))
        return await asyncio.shield(self._connection)


def _has_ended(connection: asyncio.Task[Connection]) -> bool:
    if not connection.done():
        return False
    return connection.cancelled() or connection.exception() is not None or connection.result().ended


async def connect(model: str, launcher: Launcher) -> Connection:
    """Connect to the process, and start it where there is none. Raises ModelUnavailable."""
    opened = await asyncio.to_thread(launcher.connect)
    opened.setblocking(False)
    return Connection(model, launcher, *await asyncio.open_connection(sock=opened))


class Connection:
    """Sends many requests at once. Belongs to the event loop in which it was opened."""

    def __init__(
        self, model: str, launcher: Launcher, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.figures: WorkFigures | None = None
        """The work of the process, as of the last reply."""
        self._model = model
        self._launcher = launcher
        self._reader = reader
        self._writer = writer
        self._numbers = count()
        self._open: dict[Json, asyncio.Future[MessageFrame]] = {}
        self._load_result: MessageFrame | None = None
        self._reading = asyncio.create_task(self._read())

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._reading.done()

    async def ask(self, request: Request) -> Reply:
        """Return the reply. Raises ModelUnavailable, CaseRefused, or Unanswered where the process has ended."""
        number = next(self._numbers)
        try:
            frame = encode_frame({"number": number, "request": request_to_data(request)})
        except (ValueError, TypeError, RecursionError) as error:
            raise CaseRefused(f"{self._model}: the request is not JSON: {error}") from None
        if self._has_failed:
            raise self._failure()
        self._open[number] = future = asyncio.get_running_loop().create_future()
        self._writer.write(frame)
        try:
            answer = await future
        except asyncio.CancelledError:
            self._writer.write(encode_frame({"number": number}))
            raise
        finally:
            del self._open[number]
        if "reply" in answer:
            self.figures = figures_from_data(answer.get("figures"))
            return reply_from_data(answer["reply"])
        raise failure_from_data(answer, self._model, self._launcher.log)

    async def close(self) -> None:
        """Leave the process, which ends with its last client."""
        self._reading.cancel()
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def _read(self) -> None:
        """Pass answers to their requests until the connection ends."""
        with suppress(EOFError):
            while True:
                frame = await read_frame(self._reader)
                if "number" not in frame:
                    self._load_result = frame
                    if self._has_failed:
                        self._fail_all()
                elif (future := self._open.get(frame["number"])) and not future.done():
                    future.set_result(frame)
        self._writer.close()
        self._fail_all()

    @property
    def _has_failed(self) -> bool:
        return self.ended or "failure" in (self._load_result or {})

    def _fail_all(self) -> None:
        for future in self._open.values():
            if not future.done():
                future.set_exception(self._failure())

    def _failure(self) -> Exception:
        if self._load_result is None:
            return ModelUnavailable(
                f"{self._model}: the model process ended while loading; {self._launcher.end_of_log()}"
            )
        if "failure" in self._load_result:
            return failure_from_data(self._load_result, self._model, self._launcher.log)
        return Unanswered(f"{self._model}: the model process ended; {self._launcher.end_of_log()}")
