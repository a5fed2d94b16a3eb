"""The process that keeps a server for all workers: `python -m pytest_fcall.backends.servers.keeper`.

It starts the server for the first worker, waits until it is ready, sends each worker the address, and ends the server
after the last worker has left, for whatever reason. What the server prints is this process's log.
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
from pytest_fcall.backends.processes.protocol import (
    IDLE_SECONDS,
    ClientConnections,
    MessageFrame,
    encode_frame,
    failure_to_data,
    read_frame,
    read_launch_order,
    send_frame,
)
from pytest_fcall.backends.servers import watchdog
from pytest_fcall.backends.servers.command import PORT_PLACEHOLDER, Command, command_from_data
from pytest_fcall.core.backend import ModelUnavailable
from pytest_fcall.core.commands import program_hint

_LOCK_SECONDS = 60.0
"""Seconds for the server of an earlier run to end: two may not fit into the memory."""
_POLL_SECONDS = 0.1
"""Seconds until the health of the server is checked again; the pause grows to a second."""
_TERMINATE_SECONDS = 20.0
"""Seconds for a server to end after SIGTERM."""
_HEALTH_SECONDS = 5.0
_LONGEST_BODY = 65_536
_UNTRACED = {"traceparent": f"00-{1:032x}-{1:016x}-00"}
"""Says to a server that is traced by OpenTelemetry that this request is not: its spans would belong to no case."""
_NO_SUCH_PAGE = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED)


def main(idle_seconds: float = IDLE_SECONDS) -> None:
    """Keep the server of the launch order on stdin."""
    order = read_launch_order()
    keeper = Keeper(command_from_data(order.spec), order.folder)

    async def run() -> None:
        connections = ClientConnections(order.tokens, keeper.serve)
        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(NotImplementedError):
                asyncio.get_running_loop().add_signal_handler(number, connections.end)
        try:
            await connections.run(idle_seconds)
        finally:
            await keeper.stop()

    asyncio.run(run())


class Keeper:
    """Keeps one server, from the first client to the last."""

    def __init__(self, command: Command, folder: Path) -> None:
        self._command = command
        self._folder = folder
        self._lock: sqlite3.Connection | None = None
        """Held until this process ends."""
        self._server: ServerProcess | None = None
        self._starting: asyncio.Task[MessageFrame] | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Report the address and the end of the server to a client, until the client leaves."""
        reporting = asyncio.create_task(self._report(writer))
        try:
            while True:
                await read_frame(reader)
        finally:
            reporting.cancel()

    async def stop(self) -> None:
        """End the server."""
        if self._starting is not None:
            self._starting.cancel()
            with suppress(asyncio.CancelledError):
                await self._starting
        if self._server is not None:
            await self._server.stop()

    async def _report(self, writer: asyncio.StreamWriter) -> None:
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        frame = await asyncio.shield(self._starting)
        await send_frame(writer, encode_frame(frame))
        if self._server is not None and "failure" not in frame:
            end = {"failure": "model", "text": await self._server.ended()}
            await send_frame(writer, encode_frame(end))

    async def _start(self) -> MessageFrame:
        try:
            self._lock = await asyncio.to_thread(lock, self._folder / "server", _LOCK_SECONDS)
            self._server = await start_server(self._command)
            await self._server.ready()
        except sqlite3.Error as error:
            return {"failure": "model", "text": f"the server of an earlier run has not ended yet: {error}"}
        except Exception as error:  # the clients are sent any failure
            if self._server is not None:
                await self._server.stop()
            return failure_to_data(error, "the server cannot be started", "model")
        version = await asyncio.to_thread(server_version, self._server.url)
        about = {"served_by": self._command.program, **({"version": version} if version else {})}
        return {"url": self._server.url, "about": about}


async def start_server(command: Command) -> ServerProcess:
    """Start the server at a free port. Raises ModelUnavailable if the program cannot be started."""
    port, dog = _free_port(), await _start_watchdog()
    try:
        process = await _start_process(command, port)
    except ModelUnavailable:
        await dog.stop()
        raise
    dog.guard(process.pid)
    return ServerProcess(command, command.url.replace(PORT_PLACEHOLDER, str(port)), process, dog)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


async def _start_process(command: Command, port: int) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *command.words_at(port),
            cwd=command.folder,
            env=os.environ | command.environment_at(port),
            stdin=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except (FileNotFoundError, NotADirectoryError):
        hint = program_hint(command.words[0]) or "is it installed?"
        raise ModelUnavailable(f"program {command.words[0]!r:.200} (`serve`) not found; {hint}") from None
    except (OSError, ValueError) as error:
        raise ModelUnavailable(f"the server {command.program!r:.200} cannot be started: {error}") from None


class ServerProcess:
    """A server with a process group of its own, so that all processes it starts end with it."""

    def __init__(self, command: Command, url: str, process: asyncio.subprocess.Process, dog: Watchdog) -> None:
        self.url = url
        self._command = command
        self._process = process
        self._watchdog = dog
        self._killed = False

    async def ready(self) -> None:
        """Wait until the server is ready. Raises ModelUnavailable if it ends before, or takes too long."""
        deadline = time.monotonic() + self._command.start_seconds
        pause = _POLL_SECONDS
        while not await asyncio.to_thread(is_ready, self.url, self._command.health):
            if self._process.returncode is not None:
                hint = program_hint(self._command.words[0])
                raise ModelUnavailable(f"{self._ending} before it was ready{f'; {hint}' if hint else ''}")
            if time.monotonic() > deadline:
                message = f"the server was not ready within {self._command.start_seconds:g} s (`serve_timeout`)"
                if path := self._command.health:
                    message += f": {await asyncio.to_thread(answer_at, self.url, path)}"
                raise ModelUnavailable(message)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), pause)
            pause = min(1.0, 1.5 * pause)

    async def ended(self) -> str:
        """Wait until the server has ended, kill the processes it has left, and return how it ended."""
        await self._process.wait()
        await self._kill()
        return self._ending

    async def stop(self) -> None:
        """End the server and all processes that it has started."""
        if self._process.returncode is None:
            self._signal(signal.SIGTERM)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), _TERMINATE_SECONDS)
        await self._kill()
        await self._process.wait()

    async def _kill(self) -> None:
        """Kill the process group, only once: later its number may be that of another group."""
        if not self._killed:
            self._killed = True
            self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
            await self._watchdog.stop()

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


class Watchdog:
    """A process that ends the server if the keeper dies."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    def guard(self, group: int) -> None:
        """End this process group if the keeper dies before it calls `stop`."""
        # It is there, since it is a pipe.
        cast("asyncio.StreamWriter", self._process.stdin).write(f"{group}\n".encode())

    async def stop(self) -> None:
        """End the watchdog, because the server has ended."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


async def _start_watchdog() -> Watchdog:
    """Start the process. Raises OSError if there can be no more processes."""
    return Watchdog(
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", watchdog.__file__),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # so that it survives when the keeper's process group is killed
        )
    )


def is_ready(url: str, health: str | None = None) -> bool:
    """Whether the server at `url` is ready: most servers of models have /health, others list their models.

    With `health`, only that path is requested, and any answer but an error will do. Many apps have no page at `/`.
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
    """The answer of a server that is not ready, in words."""
    status, _ = _get(url, health)
    return f"no answer at {health}" if status is None else f"{health} answers HTTP {status}"


def server_version(url: str) -> str | None:
    """The version that the server reports at /version, as vLLM does."""
    _, body = _get(url, "/version")
    with suppress(ValueError, RecursionError):
        fields = json.loads(body)
        if isinstance(fields, dict) and isinstance(fields.get("version"), str):
            return str(fields["version"])
    return None


def _get(url: str, path: str) -> tuple[int | None, bytes]:
    """The status and the body; None without an answer. Uses no HTTP proxy, because the server is on this machine."""
    parts = urlsplit(url)
    with closing(HTTPConnection(parts.hostname or "", parts.port, timeout=_HEALTH_SECONDS)) as connection:
        try:
            connection.request("GET", path, headers=_UNTRACED)
            answer = connection.getresponse()
            return answer.status, answer.read(_LONGEST_BODY)
        except (OSError, HTTPException):
            return None, b""


if __name__ == "__main__":
    main()
    os._exit(0)
