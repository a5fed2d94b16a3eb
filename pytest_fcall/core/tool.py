"""A function offered to the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_fcall.core.values import Json


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
