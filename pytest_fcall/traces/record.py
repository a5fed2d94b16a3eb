"""Records of single answers of a model, as traces hold them, and what cannot become one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, Message


@dataclass(frozen=True, slots=True)
class Record:
    """A conversation up to one answer of the model, the answer included."""

    messages: tuple[Message, ...]
    """Messages in OpenAI's form. The last one is the answer, unless the source holds none."""
    place: str
    """The file, and the line or the number in it."""
    tools: tuple[Tool, ...] = ()
    """The offered tools, as far as the source holds them."""
    model: str = ""
    time: str = ""
    """The time of the request, as the source writes it."""
    settings: Mapping[str, Json] = field(default_factory=dict)
    case_id: str = ""
    """The id of the case, where the source is a recording of one."""
    id: str = ""
    """The provider's id of the answer, which a later request may continue."""
    previous_id: str = ""
    """The id of the answer that this request continues, where only new messages were sent."""
    expectation: Mapping[str, Json] | None = None
    """The expectation of the source, as keys of a case (`expect`, `answer`). None where the source is a log."""
    turn_expectations: tuple[Mapping[str, Json], ...] = ()
    """The expectation of each message of the user, where the source has a conversation without its answers."""
    named_tools: tuple[str, ...] = ()
    """The tools that the expectations name, where the source does not hold the tools themselves."""
    skip: str = ""
    """The reason why the case is not to run as it is, where its expectation asks for less than the source did."""
    trace: str = ""
    """The id of the trace that the request belongs to."""


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A run of a tool, as a span of its own tells it."""

    trace: str
    name: str
    id: str
    """The id of the call; empty where the span does not tell it."""
    arguments: Mapping[str, Json] | None
    """None where the span does not tell them by their names."""
    time: str
    failed: bool


@dataclass(frozen=True, slots=True)
class SkippedEntry:
    """An entry of a source without a record, and the reason."""

    place: str
    reason: str


TraceEntry: TypeAlias = Record | SkippedEntry | ToolRun
"""The content of files of traces."""


class UnreadableTrace(ValueError):
    """No trace can be read from a file. The text says why, without a full stop."""


class UnusableRecord(ValueError):
    """No case can be made of a record. The text says why, without a full stop."""
