"""The text and the calls that the parts of a message's content hold together."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_fcall.backends.apps.answers.message import AnswerMessage
from pytest_fcall.core import RawCall


@dataclass(slots=True)
class Content:
    """The text and the calls that the parts of a content hold together."""

    text: str = ""
    refusal: str | None = None
    calls: list[RawCall] = field(default_factory=list)
    results: list[AnswerMessage] = field(default_factory=list)
    """Results of calls, in forms that are not those of OpenAI and Anthropic."""
    is_foreign: bool = False
    """Whether there are parts that neither OpenAI nor Anthropic has."""
