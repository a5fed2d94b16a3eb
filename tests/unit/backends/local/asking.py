"""Asking the process, by as many back ends as there would be workers."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector

from pytest_fcall.backends.local.backend import LocalBackend
from pytest_fcall.backends.local.process_data import ProcessSpec
from pytest_fcall.backends.processes.launcher import Launcher
from pytest_fcall.core import Json, Message, Model, Reply, Request

ROOT = Path(__file__).parents[4]
ENGINES = "tests.unit.backends.local.engines"
MODEL = Model("local", "spelling")


def backend(folder: Path, maker: str = "spelling", **options: Json) -> LocalBackend:
    return LocalBackend(MODEL, ProcessSpec(f"{ENGINES}:{maker}", options), {}, folder)


def launcher(folder: Path) -> Launcher:
    return Launcher("pytest_fcall.backends.local.process", ProcessSpec(f"{ENGINES}:spelling").to_data(), folder)


@asynccontextmanager
async def backends(
    folder: Path, count: int, maker: str = "spelling", **options: Json
) -> AsyncIterator[list[LocalBackend]]:
    made = [backend(folder, maker, **options) for _ in range(count)]
    try:
        yield made
    finally:
        for each in made:
            await each.close()


def request(text: str, sample: int = 0, **settings: Json) -> Request:
    message: Message = {"role": "user", "content": text}
    return Request((message,), settings=settings, sample=sample)


def pid_of(reply: Reply) -> int:
    pid = reply.engine["pid"]
    assert isinstance(pid, int)
    return pid


class Watched:
    """A process that is not ours, watched from now on."""

    def __init__(self, pid: int) -> None:
        self._file: int | None = None
        with suppress(ProcessLookupError):
            self._file = os.pidfd_open(pid)

    def ends(self) -> bool:
        """Wait for its end, though not for ever."""
        if self._file is None:
            return True
        try:
            with DefaultSelector() as selector:
                selector.register(self._file, EVENT_READ)
                return bool(selector.select(60))
        finally:
            os.close(self._file)
