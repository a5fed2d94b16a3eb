"""What is sent to a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pytest_fcall.core.tool import Tool
from pytest_fcall.core.values import Json, Message


@dataclass(frozen=True, slots=True)
class Request:
    """Messages, tools and sampling settings. `digest` in this room gives it a stable name."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    settings: Mapping[str, Json] = field(default_factory=dict, repr=False)
    """Not shown where a request is: there may be keys in it."""
    sample: int = 0
    """Counts the times that the same thing is asked in one run."""
    now: datetime | None = None
    """The case's clock. Told to `python:` and `http:` back ends; no part of the digest."""
