"""A server as a process: started, waited for, stopped."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from contextlib import suppress

from pytest_fcall.backends.serving.command import PORT, Command
from pytest_fcall.backends.serving.health import answer_at, is_ready
from pytest_fcall.backends.serving.leash import Leash, leash
from pytest_fcall.core import ModelUnavailable

_LOOKING = 0.1
"""Seconds until it is looked again whether the server is ready; more and more, up to a second."""
_GRACE = 20.0
"""Seconds for a server to end by itself when it is told to."""


class Running:
    """A server with a process group of its own, so that whatever it starts ends with it."""

    def __init__(self, command: Command, url: str, process: asyncio.subprocess.Process, leash: Leash) -> None:
        self.url = url
        self._command = command
        self._process = process
        self._leash = leash
        self._killed = False

    async def ready(self) -> None:
        """Wait until it can be asked. Raises ModelUnavailable where it ends before, or takes too long."""
        end = time.monotonic() + self._command.patience
        pause = _LOOKING
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
                await asyncio.wait_for(self._process.wait(), _GRACE)
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


async def start(command: Command) -> Running:
    """Start it at a port that is free. Raises ModelUnavailable where there is no such program."""
    port, held = _free_port(), await leash()
    try:
        process = await _process(command, port)
    except ModelUnavailable:
        await held.let_go()
        raise
    held.hold(process.pid)
    return Running(command, command.url.replace(PORT, str(port)), process, held)


async def _process(command: Command, port: int) -> asyncio.subprocess.Process:
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
