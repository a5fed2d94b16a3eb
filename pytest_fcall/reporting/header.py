"""The lines before the first case: models, judge and profile."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import cut_end


def header_lines(
    models: Sequence[str], *, origin: str, live: bool, profile: str = "strict by default", width: int = 100
) -> list[str]:
    """The models, where they were named, the matching profile, and whether models or recordings answer.

    `origin` is the place in words (`command line`, `configuration`, `conftest.py`); `profile` is the one of cases that
    name no other. Without `live`, only recordings answer.
    """
    if not models:
        return ["fcall: no model given: use --fc-model=KIND:NAME, the ini option fc_model or a fixture fc_model"]
    lines = [f"fcall: {', '.join(map(safe_line, models))} ({safe_line(origin)})"]
    details = f"profile {safe_line(profile)}, {_answering(live)}"
    if len(lines[0]) + len(details) + 2 <= width:
        return [f"{lines[0]}, {details}"]
    return [cut_end(lines[0], width), cut_end(f"       {details}", width)]


def judge_line(model: str, *, origin: str, live: bool) -> str:
    """The judge model, and whether it or recordings answer."""
    return f"fcall: judge {safe_line(model)} ({safe_line(origin)}), {_answering(live)}"


def _answering(live: bool) -> str:
    return "live" if live else "from recordings only"
