"""What the official checker is told of a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_fcall.core.rules import Language


@dataclass(frozen=True, slots=True)
class Exam:
    """One case in the official form, as raw as its files hold it.

    The rules follow from words in `category`: `relevance`, `parallel`, `multiple`. A case about sensitivity to
    formats goes by the category that its id ends in.
    """

    category: str
    functions: Sequence[Mapping[str, Any]]
    truth: Sequence[Mapping[str, Any]]
    """A call each, with a list of alternatives for each argument; empty where only calling or not counts."""
    language: Language = "python"
    underscored: bool = False
    """Whether the model had to write `_` for each dot in the names of functions."""
