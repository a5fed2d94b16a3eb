"""What a client asked, and what the server does about it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Ending: TypeAlias = Literal["keep", "close", "reset", "hang", "drop"]


@dataclass(slots=True)
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    """By names in lower case."""
    body: bytes
    connection: int
    """Counts the connections of the server; the same for requests that shared one."""
    arrived: float
    """`time.monotonic()` when the request was there in full."""
    answered: float | None = None
    """`time.monotonic()` when the last byte of the answer was handed to the system; None until then."""

    @property
    def json(self) -> Any:
        """The body, read."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server does for one request: waits `latency`, says the head, says the body, and ends."""

    body: bytes = b"{}"
    status: int = 200
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    latency: float = 0.0
    head: bool = True
    """Whether anything is said at all."""
    sent: int | None = None
    """How many bytes of the body are sent before the end; None for all. The head promises the whole body."""
    drip: float | None = None
    """Seconds between two bytes of the body; None sends them together."""
    chunked: bool = False
    """Whether the body travels in chunks, without its length."""
    unmeasured: bool = False
    """Whether the head names no length, so that the body ends where the connection does."""
    ending: Ending = "keep"
    """What becomes of the connection: kept for more, closed, reset, left open in silence until the server is closed,
    or kept until the next request arrives and then dropped under it."""


Responder: TypeAlias = Callable[[Asked], Answer]
"""Decides by what was asked."""
