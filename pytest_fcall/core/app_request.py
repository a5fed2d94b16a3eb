"""A request as an app in this process gets it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class AppRequest:
    """A request as an app gets it: plain lists and dicts in OpenAI's form, which the app may change."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    settings: dict[str, Any] = field(default_factory=dict)
    now: datetime | None = None
    """The case's clock: the time that the app should take for the present."""
