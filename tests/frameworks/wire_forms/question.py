"""What a model is asked and says, without the form of any provider."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

CREATED = 1_790_000_000


@dataclass(frozen=True)
class Question:
    """A request, as far as the answer depends on it."""

    prompt: str
    """What the user said last."""
    tools: frozenset[str]
    results: tuple[str, ...]
    """What came of the calls since."""
    streamed: bool
    model: str
    steps: int | None = None
    """How many steps were taken, where one is taken at a time."""


@dataclass(frozen=True)
class Said:
    """Words, or calls: names and arguments."""

    text: str | None = None
    calls: tuple[tuple[str, Mapping[str, str]], ...] = ()


@dataclass(frozen=True)
class Written:
    """The body of an answer."""

    body: bytes
    content_type: str = "application/json"


def plain(data: Any) -> Written:
    """JSON in one piece."""
    return Written(json.dumps(data).encode())


def stream(events: Iterable[tuple[str | None, Any]], end: str = "") -> Written:
    """Server-sent events, each with its name or without one."""
    lines = (f"event: {name}\n" * (name is not None) + f"data: {json.dumps(data)}\n\n" for name, data in events)
    return Written(("".join(lines) + end).encode(), "text/event-stream")


def halves(text: str) -> Iterator[str]:
    """A text in two pieces, as streams come."""
    yield text[: len(text) // 2]
    yield text[len(text) // 2 :]


def text_of(content: Any) -> str:
    """The text of a content: one string, or parts with texts."""
    if isinstance(content, str):
        return content
    return " ".join(str(part["text"]) for part in content or () if isinstance(part, dict) and "text" in part)


def since_last(role: str, messages: list[Any]) -> tuple[str, list[Any]]:
    """The text of the last message of the role that has one, and the messages after it."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.get("role") == role and (text := text_of(message.get("content", message.get("parts")))):
            return text, messages[index + 1 :]
    return "", messages
