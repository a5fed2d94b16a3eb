"""A request to a model, with the tools that are offered in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pytest_fcall.core.values import Json, Message


@dataclass(frozen=True, slots=True)
class Tool:
    """Name, description and parameters of one function.

    `parameters` is a JSON Schema (draft 2020-12) of an object, whatever dialect it was written in.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Json] = field(default_factory=lambda: {"type": "object", "properties": {}})
    source: str = ""
    """Where the tool was read from, for messages; no part of its identity."""
    declared: Mapping[str, Json] | None = field(default=None, compare=False)
    """The parameters as they were written, whatever the dialect: what the `bfcl` profile types by."""
    origin: Mapping[str, Json] | None = field(default=None, compare=False, repr=False)
    """What answers its calls, where its source says so: `{"python": "shop.tools:search"}`, `{"mcp": …}` and the like.

    `name` in it is what the source calls the tool, where a case file calls it otherwise.
    """


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
