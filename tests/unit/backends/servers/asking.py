"""Commands that start the little server, and back ends that ask it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pytest_fcall.backends.openai import openai_backend
from pytest_fcall.backends.openai.backend import OpenAIBackend
from pytest_fcall.core import Message, Model, Request
from tests.unit.backends.local.asking import ROOT, Watched

LITTLE = [sys.executable, "-m", "tests.unit.backends.servers.little", "--port", "{port}"]


def little(*arguments: object) -> str:
    """The command, as people write it."""
    return shlex.join([*LITTLE, *map(str, arguments)])


@asynccontextmanager
async def backends(command: str, count: int = 1, /, **options: str) -> AsyncIterator[list[OpenAIBackend]]:
    made = [openai_backend(Model("openai", "exam", {"serve": command, **options}), ROOT) for _ in range(count)]
    try:
        yield made
    finally:
        for each in made:
            await each.close()


def request(text: str) -> Request:
    message: Message = {"role": "user", "content": text}
    return Request((message,))


def started(pids: Path) -> list[list[Watched]]:
    """The servers that were started, each with its child."""
    return [[Watched(int(pid)) for pid in line.split()] for line in pids.read_text("ascii").splitlines()]
