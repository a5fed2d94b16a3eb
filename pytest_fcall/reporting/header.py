"""The lines before the first case: models, judge and profile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pytest_fcall.core.duration import duration_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import cut_end


class AnswerSources(NamedTuple):
    """The sources of answers: models, recordings, or both."""

    live: bool
    """Whether models may be asked."""
    max_age: float | None
    """The age in seconds up to which recorded replies are used where models may be asked; None for any age."""
    apps: bool = False
    """Whether the models are apps that run, so that only their own models are replayed."""

    def __str__(self) -> str:
        if not self.live:
            return "called; its models answer from recordings only" if self.apps else "from recordings only"
        done, whose = ("called live", "of its models ") if self.apps else ("asked live", "")
        if self.max_age is None:
            return f"{done}; recorded replies {whose}are reused (--fc-record=all asks again)"
        if self.max_age <= 0:
            return f"{done}; no recorded reply is reused"
        return f"{done}; replies {whose}recorded in the last {duration_text(int(self.max_age))} are reused"


def header_lines(
    models: Sequence[str],
    *,
    origin: str,
    answering: AnswerSources,
    profile: str = "strict by default",
    width: int = 100,
) -> list[str]:
    """The models, where they were named, the matching profile, and whether models or recordings answer.

    `origin` is the place in words (`command line`, `configuration`, `conftest.py`); `profile` is the one of cases that
    name no other.
    """
    if not models:
        return ["fcall: no model given: use --fc-model=KIND:NAME, the ini option fc_model or a fixture fc_model"]
    lines = [f"fcall: {', '.join(map(safe_line, models))} ({safe_line(origin)})"]
    for detail in (f"profile {safe_line(profile)}", str(answering)):
        if len(lines[-1]) + len(detail) + 2 <= width:
            lines[-1] += f", {detail}"
        else:
            lines.append(f"       {detail}")
    return [cut_end(line, width) for line in lines]


def judge_line(model: str, *, origin: str, answering: AnswerSources) -> str:
    """The judge model, and whether it or recordings answer."""
    return f"fcall: judge {safe_line(model)} ({safe_line(origin)}), {answering}"
