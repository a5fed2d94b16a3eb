"""Asks a server on loopback, as a run does."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_fcall.backends.openai import openai_backend
from pytest_fcall.core import Json, Message, Model, Reply, Request, Tool
from tests.servers import Server

NOWHERE = Path("/no/such/folder")
WEATHER = Tool(
    "get_weather",
    "The weather in a city",
    {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]},
)
USER = {"role": "user", "content": "Weather in Oslo?"}


def request(*tools: Tool, **settings: Json) -> Request:
    """Ask about the weather."""
    return Request((USER,), tools, settings)


def thread(messages: Sequence[Message], *tools: Tool, **settings: Json) -> Request:
    """Go on with these messages."""
    return Request(tuple(messages), tools, settings)


def ask(server: Server, asked: Request, **options: str) -> Reply:
    """Make a back end by its query, ask once, close it."""
    return answered(Model("openai", "exam", {"base_url": server.url, **options}), asked)


def answered(model: Model, asked: Request, root: Path = NOWHERE) -> Reply:
    """Make a back end, ask once, close it."""

    async def answer() -> Reply:
        backend = openai_backend(model, root)
        try:
            return await backend.complete(asked)
        finally:
            await backend.close()

    return asyncio.run(answer())


def sent(server: Server) -> Any:
    """The body of the last request."""
    return server.asked[-1].json
