"""What a shared process and its clients exchange: access tokens, then frames of JSON."""

from __future__ import annotations

import asyncio
import json
import secrets
import traceback
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from pytest_fcall.core import CaseRefused, Json, ModelUnavailable, Unanswered
from pytest_fcall.core.json_fields import DamagedData, as_mapping, required_field

TOKEN_LENGTH = 64
"""Characters of a token."""


@dataclass(frozen=True, slots=True)
class AccessTokens:
    """By these both sides know each other, since anybody on the machine may knock at a port, or open one."""

    knock: str
    welcome: str

    def to_data(self) -> dict[str, Json]:
        """Say them in JSON values."""
        return cast("dict[str, Json]", asdict(self))


def new_tokens() -> AccessTokens:
    """Tokens that nobody can guess."""
    return AccessTokens(secrets.token_hex(TOKEN_LENGTH // 2), secrets.token_hex(TOKEN_LENGTH // 2))


def tokens_from_data(data: Json) -> AccessTokens:
    """Read what `to_data` wrote. Raises Damaged."""
    fields = as_mapping(data, "the tokens")
    tokens = AccessTokens(required_field(fields, "knock", str), required_field(fields, "welcome", str))
    if not all(len(token) == TOKEN_LENGTH and token.isascii() for token in (tokens.knock, tokens.welcome)):
        raise DamagedData("the tokens are not tokens")
    return tokens


Frame = Mapping[str, Json]

_LENGTH_BYTES = 8
_SHOWN = 300
_FAILURES: Mapping[str, type[Exception]] = {
    "case": CaseRefused,
    "model": ModelUnavailable,
    "unanswered": Unanswered,
}


def encode_frame(frame: Frame) -> bytes:
    """Write a frame. Raises ValueError, TypeError or RecursionError for what JSON cannot say."""
    body = json.dumps(frame).encode("ascii")
    return len(body).to_bytes(_LENGTH_BYTES, "big") + body


async def read_frame(reader: asyncio.StreamReader) -> Frame:
    """Wait for a frame. Raises EOFError when the other side is gone, or cannot be understood."""
    try:
        size = int.from_bytes(await reader.readexactly(_LENGTH_BYTES), "big")
        return as_mapping(json.loads(await reader.readexactly(size)), "a frame")
    except (OSError, ValueError, RecursionError) as error:
        raise EOFError(str(error)) from None


def failure_to_data(error: Exception, what: str, kind: str = "case") -> Frame:
    """Say why there is no reply. What nobody foresaw is told as `what`, of this kind, and its traceback logged."""
    for known, failure in _FAILURES.items():
        if isinstance(error, failure):
            return {"failure": known, "text": str(error)}
    traceback.print_exception(error)
    told = " ".join(f"{type(error).__name__}: {error}".split())
    return {"failure": kind, "text": f"{what}: {told[:_SHOWN]}", "logged": True}


def failure_from_data(frame: Frame, model: str, log: Path) -> Exception:
    """Make the exception that `failure_to_data` told of."""
    failure = _FAILURES.get(str(frame.get("failure")), CaseRefused)
    text = str(frame.get("text"))
    return failure(f"{model}: {text}; more in {log}" if frame.get("logged") else text)
