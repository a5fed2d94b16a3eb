"""What a model in memory is given, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pytest_fcall.core import Json, Tool


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request as the model reads it."""

    text: str
    tools: tuple[Tool, ...] = ()
    """What a grammar is made of. The text tells them already."""
    settings: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Generated:
    """What the model wrote, its special tokens included where a decoder needs them."""

    text: str
    input_tokens: int
    output_tokens: int
    finish: Literal["stop", "length"] = "stop"
    seconds: float = 0.0
    engine: Mapping[str, Json] = field(default_factory=dict)
    """What held for this answer, beyond what the engine says of itself."""
