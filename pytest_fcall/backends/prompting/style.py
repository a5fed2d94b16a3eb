"""What a style is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import Template

from pytest_fcall.core import Call, Tool


@dataclass(frozen=True, slots=True)
class Style:
    """How tools are told in a prompt, and how the model is to write its calls."""

    instructions: Template
    """What the model is told; takes `$tools`."""
    tools: Callable[[Sequence[Tool]], str]
    written: Callable[[Sequence[Call]], str]
    """Writes calls that were made earlier in a conversation as the model is told to write them."""
