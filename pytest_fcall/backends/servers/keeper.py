"""The process that keeps a server for all workers: `python -m pytest_fcall.backends.servers.keeper`.

It starts the server for the first worker, waits until it is healthy, tells each worker the address, and ends the
server after the last worker has left, however that came about. What the server prints is this process's log.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sqlite3
import sys
import time
from contextlib import closing, suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit

from pytest_fcall.backends.processes.locks import lock
from pytest_fcall.backends.processes.protocol import Frame, encode_frame, failure_to_data, read_frame
from pytest_fcall.backends.processes.visits import UNVISITED_SECONDS, Visits, read_launch_order, send_frame
from pytest_fcall.backends.servers import watchdog
from pytest_fcall.backends.servers.command import PORT_PLACEHOLDER, Command, command_from_data
from pytest_fcall.core import ModelUnavailable

_HEALTH_SECONDS = 5.0
_LONGEST = 65_536
_NO_SUCH_PAGE = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED)


def is_ready(url: str, health: str | None = None) -> bool:
    """Whether models can be asked at `url`. Most servers say so at /health; others list models as soon as they can.

    With `health`, that path alone is asked, and any answer but an error will do; many an app has no page at `/`.
    """
    if health is not None:
        status, _ = _get(url, health)
        return status is not None and (status < HTTPStatus.BAD_REQUEST or (health == "/" and status in _NO_SUCH_PAGE))
    status, _ = _get(url, "/health")
    if status in _NO_SUCH_PAGE:
        status, _ = _get(url, f"{urlsplit(url).path.rstrip('/')}/models")
        return status is not None and status < HTTPStatus.INTERNAL_SERVER_ERROR and status not in _NO_SUCH_PAGE
    return status is not None and status < HTTPStatus.MULTIPLE_CHOICES


def answer_at(url: str, health: str) -> str:
    """What a server that is not ready says, in words."""
    status, _ = _get(url, health)
    return f"nobody answers at {health}" if status is None else f"{health} answers HTTP {status}"


def server_version(url: str) -> str | None:
    """What the server says at /version, as vLLM does."""
    _, body = _get(url, "/version")
    with suppress(ValueError, RecursionError):
        told = json.loads(body)
        if isinstance(told, dict) and isinstance(told.get("version"), str):
            return str(told["version"])
    return None


def _get(url: str, path: str) -> tuple[int | None, bytes]:
    """The status and the body, or nothing where there is no answer. No proxy is asked: it is this machine."""
    parts = urlsplit(url)
    with closing(HTTPConnection(parts.hostname or "", parts.port, timeout=_HEALTH_SECONDS)) as connection:
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read(_LONGEST)
        except (OSError, HTTPException):
            return None, b""


class Watchdog:
    """A process that outlives its keeper for as long as it takes to end the server."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    def hold(self, group: int) -> None:
        """End this process group if the keeper dies before it lets go."""
        cast("asyncio.StreamWriter", self._process.stdin).write(f"{group}\n".encode())

    async def let_go(self) -> None:
        """Leave the server alone: it is there no more."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


async def start_watchdog() -> Watchdog:
    """Make one. Raises OSError where there can be no more processes."""
    return Watchdog(
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", watchdog.__file__),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # whoever ends the keeper's group would end it, too
        )
    )


_POLL_SECONDS = 0.1
"""Seconds until it is looked again whether the server is ready; more and more, up to a second."""
_TERMINATE_SECONDS = 20.0
"""Seconds for a server to end by itself when it is told to."""


class ServerProcess:
    """A server with a process group of its own, so that whatever it starts ends with it."""

    def __init__(self, command: Command, url: str, process: asyncio.subprocess.Process, leash: Watchdog) -> None:
        self.url = url
        self._command = command
        self._process = process
        self._leash = leash
        self._killed = False

    async def ready(self) -> None:
        """Wait until it can be asked. Raises ModelUnavailable where it ends before, or takes too long."""
        end = time.monotonic() + self._command.patience
        pause = _POLL_SECONDS
        while not await asyncio.to_thread(is_ready, self.url, self._command.health):
            if self._process.returncode is not None:
                raise ModelUnavailable(f"{self._ending} before it was ready")
            if time.monotonic() > end:
                told = f"the server was not ready within {self._command.patience:g} s (`serve_timeout`)"
                if path := self._command.health:
                    told += f": {await asyncio.to_thread(answer_at, self.url, path)}"
                raise ModelUnavailable(told)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), pause)
            pause = min(1.0, 1.5 * pause)

    async def ended(self) -> str:
        """Wait until it has ended, end what it has left behind, and say how it went."""
        await self._process.wait()
        await self._kill()
        return self._ending

    async def stop(self) -> None:
        """End it, and all that it has started."""
        if self._process.returncode is None:
            self._signal(signal.SIGTERM)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), _TERMINATE_SECONDS)
        await self._kill()
        await self._process.wait()

    async def _kill(self) -> None:
        """Leave nothing of it, once: its number may be that of another process later."""
        if not self._killed:
            self._killed = True
            self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
            await self._leash.let_go()

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, number)
            else:
                self._process.send_signal(number)

    @property
    def _ending(self) -> str:
        status = self._process.returncode or 0
        return f"the server was ended by signal {-status}" if status < 0 else f"the server ended with status {status}"


async def start_server(command: Command) -> ServerProcess:
    """Start it at a port that is free. Raises ModelUnavailable where there is no such program."""
    port, held = _free_port(), await start_watchdog()
    try:
        process = await _start_process(command, port)
    except ModelUnavailable:
        await held.let_go()
        raise
    held.hold(process.pid)
    return ServerProcess(command, command.url.replace(PORT_PLACEHOLDER, str(port)), process, held)


async def _start_process(command: Command, port: int) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *command.at(port),
            cwd=command.folder,
            env=os.environ | command.variables(port),
            stdin=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except (FileNotFoundError, NotADirectoryError):
        raise ModelUnavailable(f"there is no program {command.words[0]!r:.200} to serve it; is it installed?") from None
    except (OSError, ValueError) as error:
        raise ModelUnavailable(f"the server {command.program!r:.200} cannot be started: {error}") from None


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


_LOCK_SECONDS = 60.0
"""Seconds for the server of an earlier run to end: two may not fit into the memory."""


class Keeper:
    """One server, from the first visitor to the last."""

    def __init__(self, command: Command, place: Path) -> None:
        self._command = command
        self._place = place
        self._lock: sqlite3.Connection | None = None
        """Held until this process ends."""
        self._running: ServerProcess | None = None
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
        await send_frame(writer, encode_frame(frame))
        if self._running is not None and "failure" not in frame:
            ended = ModelUnavailable(await self._running.ended())
            await send_frame(writer, encode_frame(failure_to_data(ended, "it ended", "model")))

    async def _started(self) -> Frame:
        try:
            self._lock = await asyncio.to_thread(lock, self._place / "server", _LOCK_SECONDS)
            self._running = await start_server(self._command)
            await self._running.ready()
        except sqlite3.Error as error:
            return {"failure": "model", "text": f"the server of an earlier run has not ended yet: {error}"}
        except Exception as error:
            if self._running is not None:
                await self._running.stop()
            return failure_to_data(error, "it cannot be served", "model")
        said = await asyncio.to_thread(server_version, self._running.url)
        about = {"served_by": self._command.program, **({"version": said} if said else {})}
        return {"url": self._running.url, "about": about}


def main(patience: float = UNVISITED_SECONDS) -> None:
    """Keep the server that is ordered."""
    given = read_launch_order()
    keeping = Keeper(command_from_data(given.order), given.place)

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
