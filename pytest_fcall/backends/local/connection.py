"""A worker's connection to the answering process."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from itertools import count

from pytest_fcall.backends.local.figures import Figures, figures_from_data
from pytest_fcall.backends.local.wire import request_to_data
from pytest_fcall.backends.replies import reply_from_data
from pytest_fcall.backends.shared.frames import Frame, encoded, failure_from_data, read_frame
from pytest_fcall.backends.shared.launching import Launcher
from pytest_fcall.core import CaseRefused, Json, ModelUnavailable, Reply, Request, Unanswered


async def connected(model: str, launcher: Launcher) -> Connection:
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
            asked = encoded({"number": number, "request": request_to_data(request)})
        except (ValueError, TypeError, RecursionError) as error:
            raise CaseRefused(f"{self._model}: the request cannot be sent: {error}") from None
        if self._is_hopeless:
            raise self._why_not()
        self._open[number] = answer = asyncio.get_running_loop().create_future()
        self._writer.write(asked)
        try:
            frame = await answer
        except asyncio.CancelledError:
            self._writer.write(encoded({"number": number}))
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
            return ModelUnavailable(f"{self._model}: its process died while it was loaded; {self._launcher.tail()}")
        if "failure" in self._loaded:
            return failure_from_data(self._loaded, self._model, self._launcher.log)
        return Unanswered(f"{self._model}: its process died; {self._launcher.tail()}")
