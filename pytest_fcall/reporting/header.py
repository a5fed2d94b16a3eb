"""What is said before the first case runs."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import cut_end


def header_lines(
    models: Sequence[str], *, origin: str, live: bool, profile: str = "strict by default", width: int = 100
) -> list[str]:
    """Say which models sit the exam, where they were named, by which rules they are judged, and what answers.

    `origin` is the place in words (`command line`, `configuration`, `conftest.py`), `profile` says what holds where no
    case says otherwise. Without `live`, nothing but
    recordings answers.
    """
    if not models:
        return ["fcall: no model named (--fc-model=KIND:NAME, ini fc_model, or a fixture fc_model of your own)"]
    lines = [f"fcall: {', '.join(map(safe_line, models))} ({safe_line(origin)})"]
    about = f"profile {safe_line(profile)}, {_answering(live)}"
    if len(lines[0]) + len(about) + 2 <= width:
        return [f"{lines[0]}, {about}"]
    return [cut_end(lines[0], width), cut_end(f"       {about}", width)]


def judge_line(model: str, *, origin: str, live: bool) -> str:
    """Say the same of the model that judges."""
    return f"fcall: judge {safe_line(model)} ({safe_line(origin)}), {_answering(live)}"


def _answering(live: bool) -> str:
    return "live" if live else "from recordings only"
