"""What the model asked for, in normal form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fcall.core.values import Json


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
