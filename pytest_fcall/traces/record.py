"""What a trace tells of one answer of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_fcall.core import Json, Message, Tool


@dataclass(frozen=True, slots=True)
class Record:
    """All that was said up to one answer, the answer included."""

    trail: tuple[Message, ...]
    """Messages in OpenAI's form. The last one is the answer, unless the source knows of none."""
    place: str
    """The file, and the line or the number in it."""
    tools: tuple[Tool, ...] = ()
    """What was offered, as far as the source tells."""
    model: str = ""
    moment: str = ""
    """When it was, as the source writes it."""
    settings: Mapping[str, Json] = field(default_factory=dict)
    case: str = ""
    """The id of the case that it was asked for, where it was asked for one."""
    id: str = ""
    """The provider's name of the answer, which a later request may go on from."""
    after: str = ""
    """The answer that this one goes on from, where only what is new was sent."""
    checks: Mapping[str, Json] | None = None
    """What the source itself expects, in the words of a case (`expect`, `answer`); None where it is a log."""


@dataclass(frozen=True, slots=True)
class SkippedEntry:
    """Something in a source that gives no record, and why."""

    place: str
    why: str


class UnreadableTrace(ValueError):
    """A file that no trace can be read from. The text says why, without a full stop."""


class UnusableRecord(ValueError):
    """A record that no case can be made of. The text says why, without a full stop."""
