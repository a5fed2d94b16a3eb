"""What a process and its clients say to each other: JSON, its length before it."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Mapping
from pathlib import Path

from pytest_fcall.backends.fields import as_mapping
from pytest_fcall.core import CaseRefused, Json, ModelUnavailable, Unanswered

Frame = Mapping[str, Json]

_HEAD = 8
_SHOWN = 300
_FAILURES: Mapping[str, type[Exception]] = {
    "case": CaseRefused,
    "model": ModelUnavailable,
    "unanswered": Unanswered,
}


def encoded(frame: Frame) -> bytes:
    """Write a frame. Raises ValueError, TypeError or RecursionError for what JSON cannot say."""
    body = json.dumps(frame).encode("ascii")
    return len(body).to_bytes(_HEAD, "big") + body


async def read_frame(reader: asyncio.StreamReader) -> Frame:
    """Wait for a frame. Raises EOFError when the other side is gone, or cannot be understood."""
    try:
        size = int.from_bytes(await reader.readexactly(_HEAD), "big")
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
