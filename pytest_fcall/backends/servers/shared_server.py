"""A server that workers share, as one worker sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_fcall.backends.processes.launcher import Launcher, users_folder
from pytest_fcall.backends.processes.protocol import MessageFrame, read_frame
from pytest_fcall.backends.servers.command import Command
from pytest_fcall.core.backend import ModelUnavailable
from pytest_fcall.core.json_data import as_mapping, required_field
from pytest_fcall.core.values import Json

_LOG_SECONDS, _LOG_STEPS = 0.05, 10
"""A log that has not grown for so long is whole, and is waited for at most so often."""
_KEEPER_MODULE = "pytest_fcall.backends.servers.keeper"


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The URL of a server, and what is known about it."""

    url: str
    about: Mapping[str, Json]


class SharedServer:
    """A server that its first user starts, and that ends with its last user.

    If the server ends by itself, it is not started again, because the cause would probably end it again.
    """

    def __init__(self, command: Command, folder: Path | None = None) -> None:
        self._launcher = Launcher(_KEEPER_MODULE, command.to_data(), folder or users_folder())
        self._opening: asyncio.Task[ServerAddress] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._end_message = ""

    async def address(self) -> ServerAddress:
        """Return the address once the server is ready.

        Raises ModelUnavailable, with the end of the log, if the server does not start or has ended.
        """
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        address = await asyncio.shield(self._opening)
        if self._end_message:
            raise ModelUnavailable(self._end_message)
        return address

    @property
    def log_size(self) -> int:
        """The bytes that the server has logged so far."""
        return self._launcher.log_size

    async def logged(self, since: int) -> str:
        """The last lines of what the server has logged `since` so many bytes, in one; empty where that is nothing.

        Many servers log a failure after they have answered with it, so it is waited for, for a moment.
        """
        size = since
        for _ in range(_LOG_STEPS):
            await asyncio.sleep(_LOG_SECONDS)
            before, size = size, self.log_size
            if before == size > since:
                break
        return self._launcher.end_of_log(since=since) if size > since else ""

    async def close(self) -> None:
        """Stop using the server."""
        for task in (self._opening, self._watching):
            if task is not None:
                task.cancel()
        if self._writer is not None:
            self._writer.close()

    async def _open(self) -> ServerAddress:
        connection = await asyncio.to_thread(self._launcher.connect)
        connection.setblocking(False)
        reader, self._writer = await asyncio.open_connection(sock=connection)
        frame = await _next_frame(reader)
        if "failure" in frame:
            raise ModelUnavailable(self._message(frame))
        self._watching = asyncio.create_task(self._watch(reader))
        return ServerAddress(required_field(frame, "url", str), as_mapping(frame.get("about"), "`about`"))

    async def _watch(self, reader: asyncio.StreamReader) -> None:
        self._end_message = self._message(await _next_frame(reader))

    def _message(self, frame: MessageFrame) -> str:
        return f"{frame.get('text')}; {self._launcher.end_of_log(cause_known=True)}"


async def _next_frame(reader: asyncio.StreamReader) -> MessageFrame:
    try:
        return await read_frame(reader)
    except EOFError:
        return {"failure": "model", "text": "the process that keeps the server has died"}
