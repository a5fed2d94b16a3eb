"""The backend of a local model, and its connection to the process that holds the model. All workers share that
process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path

from pytest_fcall.backends.local.generation import Figures, figures_from_data
from pytest_fcall.backends.local.process_data import ProcessSpec, request_to_data
from pytest_fcall.backends.local.settings import ignored_settings
from pytest_fcall.backends.processes.launcher import Launcher, users_folder
from pytest_fcall.backends.processes.protocol import Frame, encode_frame, failure_from_data, read_frame
from pytest_fcall.backends.recordings.entry import reply_from_data
from pytest_fcall.core import CaseRefused, Json, Model, ModelUnavailable, Reply, Request, Unanswered


async def connect(model: str, launcher: Launcher) -> Connection:
    """Connect to the process, which is started where there is none. Raises ModelUnavailable."""
    opened = await asyncio.to_thread(launcher.connect)
    opened.setblocking(False)
    return Connection(model, launcher, *await asyncio.open_connection(sock=opened))


class Connection:
    """Asks many things at once. Belongs to the event loop in which it was opened."""

    def __init__(
        self, model: str, launcher: Launcher, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._model = model
        self._launcher = launcher
        self._reader = reader
        self._writer = writer
        self._numbers = count()
        self._open: dict[Json, asyncio.Future[Frame]] = {}
        self._loaded: Frame | None = None
        """What came of loading the model, once that is known."""
        self.figures: Figures | None = None
        """What the process has done, as the last reply tells it."""
        self._reading = asyncio.create_task(self._read())

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._reading.done()

    async def ask(self, request: Request) -> Reply:
        """Return the reply. Raises ModelUnavailable, CaseRefused, or Unanswered where the process has died."""
        number = next(self._numbers)
        try:
            asked = encode_frame({"number": number, "request": request_to_data(request)})
        except (ValueError, TypeError, RecursionError) as error:
            raise CaseRefused(f"{self._model}: the request cannot be sent: {error}") from None
        if self._is_hopeless:
            raise self._why_not()
        self._open[number] = answer = asyncio.get_running_loop().create_future()
        self._writer.write(asked)
        try:
            frame = await answer
        except asyncio.CancelledError:
            self._writer.write(encode_frame({"number": number}))
            raise
        finally:
            del self._open[number]
        if "reply" in frame:
            self.figures = figures_from_data(frame.get("figures"))
            return reply_from_data(frame["reply"])
        raise failure_from_data(frame, self._model, self._launcher.log)

    async def close(self) -> None:
        """Leave. The process ends when nobody is left."""
        self._reading.cancel()
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def _read(self) -> None:
        """Hand out what comes, until nothing more can."""
        with suppress(EOFError):
            while True:
                frame = await read_frame(self._reader)
                if "number" not in frame:
                    self._loaded = frame
                    if self._is_hopeless:
                        self._fail_all()
                elif (answer := self._open.get(frame["number"])) and not answer.done():
                    answer.set_result(frame)
        self._writer.close()
        self._fail_all()

    @property
    def _is_hopeless(self) -> bool:
        return self.ended or "failure" in (self._loaded or {})

    def _fail_all(self) -> None:
        for answer in self._open.values():
            if not answer.done():
                answer.set_exception(self._why_not())

    def _why_not(self) -> Exception:
        if self._loaded is None:
            return ModelUnavailable(
                f"{self._model}: its process died while it was loaded; {self._launcher.end_of_log()}"
            )
        if "failure" in self._loaded:
            return failure_from_data(self._loaded, self._model, self._launcher.log)
        return Unanswered(f"{self._model}: its process died; {self._launcher.end_of_log()}")


_PROCESS = "pytest_fcall.backends.local.process"


class LocalBackend:
    """Holds no model itself. The process is started, or found, with the first request.

    `settings` are what shapes the answer. Processes are found through files in `folder`.
    """

    reusable = True
    ahead = True

    def __init__(
        self, model: Model, order: ProcessSpec, settings: Mapping[str, Json], folder: Path | None = None
    ) -> None:
        self.settings = settings
        self._model = model
        self._order = order
        self._launcher = Launcher(_PROCESS, order.to_data(), folder or users_folder())
        self._connecting: asyncio.Task[Connection] | None = None

    def changes(self, request: Request) -> list[str]:
        """What of a request's settings the model is not told."""
        return ignored_settings(self.settings, request.settings)

    def prompt(self, request: Request) -> str:
        """What the model would be told; its tokenizer is loaded. Raises ModelUnavailable, CaseRefused."""
        from pytest_fcall.backends.local.prompts import load_prompts

        return load_prompts(self._order.options).text(request)

    def throughput(self) -> tuple[int, str] | None:
        """How many prompts the process has gone on with, for whomever, and how fast."""
        connecting = self._connecting
        if connecting is None or not connecting.done() or connecting.cancelled() or connecting.exception():
            return None
        figures = connecting.result().figures
        return (figures.prompts, figures.text()) if figures else None

    async def complete(self, request: Request) -> Reply:
        """Answer `request`; its time is that of its batch in the engine."""
        connection = await self._connected()
        return await connection.ask(request)

    async def close(self) -> None:
        """Leave the process, which ends with its last client."""
        if self._connecting is not None:
            with suppress(Exception):
                await (await self._connecting).close()

    async def _connected(self) -> Connection:
        """The one connection. One that has failed or ended is made anew for whoever asks next."""
        if self._connecting is None or _has_ended(self._connecting):
            self._connecting = asyncio.create_task(connect(self._model.id, self._launcher))
        return await asyncio.shield(self._connecting)


def _has_ended(connecting: asyncio.Task[Connection]) -> bool:
    if not connecting.done():
        return False
    return connecting.cancelled() or connecting.exception() is not None or connecting.result().ended
