"""The messages between a shared process and its clients: access tokens, then frames of JSON."""

from __future__ import annotations

import asyncio
import json
import secrets
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pytest_fcall.core import CaseRefused, Json, ModelUnavailable, Unanswered
from pytest_fcall.core.json_data import DamagedData, as_mapping, required_field

TOKEN_LENGTH = 64
"""Characters of a token."""

Frame: TypeAlias = Mapping[str, Json]

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


def encode_frame(frame: Frame) -> bytes:
    """The frame as bytes. Raises ValueError, TypeError or RecursionError if it is not JSON data."""
    body = json.dumps(frame).encode("ascii")
    return len(body).to_bytes(_LENGTH_BYTES, "big") + body


async def read_frame(reader: asyncio.StreamReader) -> Frame:
    """Wait for a frame. Raises EOFError if the other side is gone or sends no valid frame."""
    try:
        size = int.from_bytes(await reader.readexactly(_LENGTH_BYTES), "big")
        return as_mapping(json.loads(await reader.readexactly(size)), "a frame")
    except (OSError, ValueError, RecursionError) as error:
        raise EOFError(str(error)) from None


def failure_to_data(error: Exception, context: str, kind: str = "case") -> Frame:
    """The error as a frame. An unexpected error is logged, and becomes a failure of this kind, after `context`."""
    for name, failure in _FAILURES.items():
        if isinstance(error, failure):
            return {"failure": name, "text": str(error)}
    traceback.print_exception(error)
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return {"failure": kind, "text": f"{context}: {text[:_SHOWN]}", "logged": True}


def failure_from_data(frame: Frame, model: str, log: Path) -> Exception:
    """The exception in a frame of `failure_to_data`."""
    failure = _FAILURES.get(str(frame.get("failure")), CaseRefused)
    text = str(frame.get("text"))
    return failure(f"{model}: {text}; more in {log}" if frame.get("logged") else text)
