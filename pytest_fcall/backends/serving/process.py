"""The process that keeps a server for all workers: `python -m pytest_fcall.backends.serving.process`.

It starts the server when the first of them comes, tells each where it is, and ends it when the last is gone, however
that came about. What the server prints is this process's log.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
from contextlib import suppress
from pathlib import Path

from pytest_fcall.backends.serving.command import Command, command_from_data
from pytest_fcall.backends.serving.health import version
from pytest_fcall.backends.serving.running import Running, start
from pytest_fcall.backends.shared.frames import Frame, encoded, failure_to_data, read_frame
from pytest_fcall.backends.shared.visits import UNVISITED, Visits, send, told
from pytest_fcall.backends.store.locks import lock
from pytest_fcall.core import ModelUnavailable

_PATIENCE = 60.0
"""Seconds for the server of an earlier run to end: two may not fit into the memory."""


class Keeping:
    """One server, from the first visitor to the last."""

    def __init__(self, command: Command, place: Path) -> None:
        self._command = command
        self._place = place
        self._lock: sqlite3.Connection | None = None
        """Held until this process ends."""
        self._running: Running | None = None
        self._starting: asyncio.Task[Frame] | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Tell a visitor, who says nothing, all that happens."""
        telling = asyncio.create_task(self._tell(writer))
        try:
            while True:
                await read_frame(reader)
        finally:
            telling.cancel()

    async def stop(self) -> None:
        """End the server."""
        if self._starting is not None:
            self._starting.cancel()
            with suppress(asyncio.CancelledError):
                await self._starting
        if self._running is not None:
            await self._running.stop()

    async def _tell(self, writer: asyncio.StreamWriter) -> None:
        if self._starting is None:
            self._starting = asyncio.create_task(self._started())
        frame = await asyncio.shield(self._starting)
        await send(writer, encoded(frame))
        if self._running is not None and "failure" not in frame:
            ended = ModelUnavailable(await self._running.ended())
            await send(writer, encoded(failure_to_data(ended, "it ended", "model")))

    async def _started(self) -> Frame:
        try:
            self._lock = await asyncio.to_thread(lock, self._place / "server", _PATIENCE)
            self._running = await start(self._command)
            await self._running.ready()
        except sqlite3.Error as error:
            return {"failure": "model", "text": f"the server of an earlier run has not ended yet: {error}"}
        except Exception as error:
            if self._running is not None:
                await self._running.stop()
            return failure_to_data(error, "it cannot be served", "model")
        said = await asyncio.to_thread(version, self._running.url)
        about = {"served_by": self._command.program, **({"version": said} if said else {})}
        return {"url": self._running.url, "about": about}


def main(patience: float = UNVISITED) -> None:
    """Keep the server that is ordered."""
    given = told()
    keeping = Keeping(command_from_data(given.order), given.place)

    async def run() -> None:
        visits = Visits(given.tokens, keeping.serve)
        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(NotImplementedError):
                asyncio.get_running_loop().add_signal_handler(number, visits.end)
        try:
            await visits.run(patience)
        finally:
            await keeping.stop()

    asyncio.run(run())


if __name__ == "__main__":
    main()
    os._exit(0)
