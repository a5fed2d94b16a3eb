"""A model's reply, and the calls that are decoded from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, TypeAlias

from pytest_fcall.core.values import Json, Message


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call: the tool's name and its arguments as plain Python values."""

    name: str
    arguments: Mapping[str, Json]
    id: str | None = None
    """The wire's name of this call, which a tool result must repeat."""


@dataclass(frozen=True, slots=True)
class Calls:
    """What decoding found in a reply.

    `malformed` says why a call that was attempted could not be read; `calls` then holds what could.
    `notes` name what was dropped or read generously on the way.
    """

    calls: tuple[Call, ...] = ()
    malformed: str | None = None
    notes: tuple[str, ...] = ()


Finish: TypeAlias = Literal["stop", "tool_calls", "length", "refusal", "content_filter", "unknown"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, as the provider counts them; what it does not say is None, never zero."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


def total_usage(usages: Iterable[Usage | None]) -> Usage | None:
    """All of these together; None where nothing is known of any."""
    known = [usage for usage in usages if usage is not None]
    return Usage(*(_sum(getattr(usage, name) for usage in known) for name in _TOKENS)) if known else None


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


_TOKENS = tuple(field.name for field in fields(Usage))


@dataclass(frozen=True, slots=True)
class RawCall:
    """A tool call as the wire gave it: `arguments` may be JSON text, or a value that already is one."""

    name: Json
    arguments: Json
    id: str | None = None
    extra: Mapping[str, Json] | None = None
    """What the wire wants to see again with the call, such as a signature of the thought that led to it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer, undecoded.

    With `decoder` None the calls are those of `tool_calls` (native tool mode); else the named decoder reads them
    out of `text`. `malformed` is set where the provider itself reports that the model's call was unreadable.
    """

    text: str = ""
    tool_calls: tuple[RawCall, ...] = ()
    finish: Finish = "stop"
    refusal: str | None = None
    malformed: str | None = None
    decoder: str | None = None
    usage: Usage | None = None
    extra: Mapping[str, Json] | None = None
    """What the wire wants to see again with the message, where the conversation goes on."""
    seconds: float | None = None
    """Time in the back end, without queueing."""
    trail: tuple[Message, ...] = ()
    """All messages of an app that ran its own tool loop, the request's included; else empty."""
    engine: Mapping[str, Json] = field(default_factory=dict)
    """What answered: model version, library versions, dtype, grammar …

    `wire` in it lists what the wire does to arguments: `floats` where all numbers travel as floats, `nulls` where
    every optional argument is made required, so that a model says null for nothing.
    """
