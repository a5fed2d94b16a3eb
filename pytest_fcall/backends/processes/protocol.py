"""The protocol of a shared process and its clients: access tokens, frames of JSON, and the admission of clients."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pytest_fcall.core.backend import CaseRefused, ModelUnavailable, Unanswered
from pytest_fcall.core.json_data import DamagedData, as_mapping, required_field
from pytest_fcall.core.values import Json

TOKEN_LENGTH = 64
"""Characters of a token."""

MessageFrame: TypeAlias = Mapping[str, Json]

_LENGTH_BYTES = 8
_SHOWN = 300
"""Characters of an unexpected error that a frame carries."""
_FAILURES: Mapping[str, type[Exception]] = {
    "case": CaseRefused,
    "model": ModelUnavailable,
    "unanswered": Unanswered,
}


@dataclass(frozen=True, slots=True)
class AccessTokens:
    """The secrets by which both sides recognise each other: any user of the machine may connect to or open a port."""

    client: str
    server: str

    def to_data(self) -> dict[str, Json]:
        """The tokens as JSON data."""
        return {"client": self.client, "server": self.server}


def new_tokens() -> AccessTokens:
    """New random tokens."""
    return AccessTokens(secrets.token_hex(TOKEN_LENGTH // 2), secrets.token_hex(TOKEN_LENGTH // 2))


def tokens_from_data(data: Json) -> AccessTokens:
    """Read what `AccessTokens.to_data` returned. Raises DamagedData."""
    fields = as_mapping(data, "the tokens")
    tokens = AccessTokens(required_field(fields, "client", str), required_field(fields, "server", str))
    if not all(len(token) == TOKEN_LENGTH and token.isascii() for token in (tokens.client, tokens.server)):
        raise DamagedData("the tokens are not valid")
    return tokens


def encode_frame(frame: MessageFrame) -> bytes:
    """The frame as bytes. Raises ValueError, TypeError or RecursionError if it is not JSON data."""
    body = json.dumps(frame).encode("ascii")
    return len(body).to_bytes(_LENGTH_BYTES, "big") + body


async def read_frame(reader: asyncio.StreamReader) -> MessageFrame:
    """Wait for a frame. Raises EOFError if the other side is gone or sends no valid frame."""
    try:
        size = int.from_bytes(await reader.readexactly(_LENGTH_BYTES), "big")
        return as_mapping(json.loads(await reader.readexactly(size)), "a frame")
    except (OSError, ValueError, RecursionError) as error:
        raise EOFError(str(error)) from None


def failure_to_data(error: Exception, context: str, kind: str = "case") -> MessageFrame:
    """The error as a frame. An unexpected error is logged, and becomes a failure of this kind, after `context`."""
    for name, failure in _FAILURES.items():
        if isinstance(error, failure):
            return {"failure": name, "text": str(error)}
    traceback.print_exception(error)
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return {"failure": kind, "text": f"{context}: {text[:_SHOWN]}", "logged": True}


def failure_from_data(frame: MessageFrame, model: str, log: Path) -> Exception:
    """The exception in a frame of `failure_to_data`."""
    failure = _FAILURES.get(str(frame.get("failure")), CaseRefused)
    text = str(frame.get("text"))
    return failure(f"{model}: {text}; more in {log}" if frame.get("logged") else text)


Serve: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

IDLE_SECONDS = 60.0
"""Seconds after which a process without a client ends: the process that started it must have died."""


@dataclass(frozen=True, slots=True)
class LaunchOrder:
    """The text that a process reads from stdin when it starts."""

    spec: Json
    """Its task, in the form of the module that is run."""
    tokens: AccessTokens
    folder: Path
    """Shared by all processes of this specification, one after another."""


def read_launch_order() -> LaunchOrder:
    """Read stdin. Raises DamagedData."""
    fields = as_mapping(json.load(sys.stdin), "the content of stdin")
    return LaunchOrder(
        fields.get("spec"), tokens_from_data(fields.get("tokens")), Path(required_field(fields, "folder", str))
    )


class ClientConnections:
    """Admits clients that know the token, and ends after the last has left, for whatever reason.

    `serve` serves one client. It returns, or raises EOFError, when the client is gone.
    """

    def __init__(self, tokens: AccessTokens, serve: Serve) -> None:
        self._tokens = tokens
        self._serve = serve
        self._ended = asyncio.Event()
        self._clients = 0

    async def run(self, idle_seconds: float) -> None:
        """Print the port, and serve until the last client is gone, or none has come for so many seconds."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
        sys.stdout.flush()
        os.dup2(2, 1)  # stdout is not read any more: what libraries print belongs into the log
        asyncio.get_running_loop().call_later(idle_seconds, self._end_if_idle)
        await self._ended.wait()

    def end(self) -> None:
        """End, whether there are clients or not."""
        self._ended.set()

    def _end_if_idle(self) -> None:
        if not self._clients:
            self.end()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(EOFError, OSError):
            if secrets.compare_digest(await reader.readexactly(TOKEN_LENGTH), self._tokens.client.encode()):
                writer.write(self._tokens.server.encode())
                self._clients += 1
                try:
                    await self._serve(reader, writer)
                finally:
                    self._clients -= 1
                    self._end_if_idle()
        writer.close()


async def send_frame(writer: asyncio.StreamWriter, frame: bytes) -> None:
    """Send a frame, unless the client is gone."""
    with suppress(OSError):
        writer.write(frame)
        await writer.drain()
