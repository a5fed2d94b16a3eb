"""A model's reply, and the calls that are decoded from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

from pytest_fcall.core.values import Json, Message

if TYPE_CHECKING:
    from pytest_fcall.core.app import AppSpans

MAX_CALLS: Final = 10_000
"""The most calls that are read in one reply."""
TOO_MANY_CALLS: Final = f"There are more than {MAX_CALLS:,} calls; the others were not read."
"""The fault of a reply with more."""
MAX_DECODED_TEXT: Final = 1_000_000
"""The most characters in which calls are looked for. The slowest decoder takes five seconds for them."""

_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call: the tool's name and its arguments as plain Python values."""

    name: str
    arguments: Mapping[str, Json]
    id: str | None = None
    """The API's name of this call, which a tool result must repeat."""


def call_source(call: Call) -> str:
    """The call as Python source, with named arguments: `get_weather(city='Oslo', days=2)`."""
    return f"{call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


def calls_source(calls: Iterable[Call]) -> str:
    """The calls as a list in Python."""
    return f"[{', '.join(map(call_source, calls))}]"


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of a reply.

    `malformed` says why a call that the model attempted cannot be read; `calls` then has those that can.
    `notes` say what was dropped or read leniently.
    """

    calls: tuple[Call, ...] = ()
    malformed: str | None = None
    notes: tuple[str, ...] = ()


Finish: TypeAlias = Literal["stop", "tool_calls", "length", "refusal", "content_filter", "unknown"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counts them. A count that the provider does not report is None, never zero."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    batched: Usage | None = None
    """The part of these tokens that batches of the provider counted, at their price; None if there is none."""

    @property
    def unbatched(self) -> Usage:
        """The part of these tokens that is paid at the usual price."""
        part = self.batched
        if part is None:
            return self
        return Usage(
            _less(self.input_tokens, part.input_tokens),
            _less(self.output_tokens, part.output_tokens),
            _less(self.cached_tokens, part.cached_tokens),
            _less(self.reasoning_tokens, part.reasoning_tokens),
        )


def _less(number: int | None, part: int | None) -> int | None:
    return None if number is None else number - (part or 0)


def total_usage(usages: Iterable[Usage | None]) -> Usage | None:
    """Add up usages, None where there is none."""
    known = [usage for usage in usages if usage is not None]
    if len(known) < 2:
        return known[0] if known else None
    return Usage(
        known_sum(usage.input_tokens for usage in known),
        known_sum(usage.output_tokens for usage in known),
        known_sum(usage.cached_tokens for usage in known),
        known_sum(usage.reasoning_tokens for usage in known),
        total_usage(usage.batched for usage in known),
    )


def known_sum(numbers: Iterable[_Number | None]) -> _Number | None:
    """The sum of the known numbers; None if none is known."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class RawCall:
    """A native tool call as the API gave it. `arguments` is JSON text, or already a value."""

    name: Json
    arguments: Json
    id: str | None = None
    extra: Mapping[str, Json] | None = None
    """Fields that the API expects back with the call, such as the signature of a thought."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply before decoding.

    Without a `decoder` the calls are `tool_calls` (native tool mode); otherwise the decoder of that name reads them
    from `text`. `malformed` is set where the provider itself reports that the model's call cannot be read.
    """

    text: str = ""
    tool_calls: tuple[RawCall, ...] = ()
    finish: Finish = "stop"
    refusal: str | None = None
    malformed: str | None = None
    decoder: str | None = None
    usage: Usage | None = None
    extra: Mapping[str, Json] | None = None
    """Fields that the API expects back with the message when the conversation goes on."""
    seconds: float | None = None
    """The time in the backend, without queueing."""
    trail: tuple[Message, ...] = ()
    """All messages of an app that ran its own tool loop, including those of the request; otherwise empty."""
    spans: AppSpans | None = None
    """The facts that the spans of an app told while it came to this reply; None where they were not wanted."""
    engine: Mapping[str, Json] = field(default_factory=dict)
    """The software that answered: model version, library versions, dtype, grammar and the like.

    Its list `wire` names changes of the API to arguments: `floats` if it sends all numbers as floats, `nulls` if it
    makes optional arguments required, so that a model writes null instead of leaving one out.
    """
