"""Scores beside verdicts, as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fcall.reporting.figures import count_text
from pytest_fcall.reporting.safe import safe_line
from pytest_fcall.reporting.table import table_lines

_TITLES = ("model", "tag", "score", "n", "value", "no reply")
_CHANGES = ("model", "tag", "score", "n", "before", "now", "change")


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A score over the cases of a tag, for one model."""

    model: str
    tag: str
    score: str
    cases: int
    value: float | None
    """From 0 to 1; None where there is nothing to divide by."""
    lacking: int = 0
    """Cases without a reply: they are not among those that are scored."""


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """A score over the same cases in two runs."""

    model: str
    tag: str
    score: str
    cases: int
    before: float
    now: float


def score_lines(rows: Sequence[ScoreRow], width: int = 100) -> list[str]:
    """A table of scores; none where there are none."""
    written = [
        [
            *_names(row, rows[place - 1] if place else None),
            f"{row.cases:,}" if row.cases else "-",
            score_text(row.value),
            count_text(row.lacking or None),
        ]
        for place, row in enumerate(rows)
    ]
    return table_lines(_TITLES, written, texts=3, width=width) if rows else []


def change_lines(changes: Sequence[ScoreChange], width: int = 100) -> list[str]:
    """A table of scores before and now; none where there are none."""
    written = [
        [
            *_names(each, changes[place - 1] if place else None),
            f"{each.cases:,}",
            score_text(each.before),
            score_text(each.now),
            f"{each.now - each.before:+.4f}" if each.now != each.before else "0",
        ]
        for place, each in enumerate(changes)
    ]
    return table_lines(_CHANGES, written, texts=3, width=width) if changes else []


def score_text(value: float | None) -> str:
    """Write `0.6667`; what is not quite all is never 1.0000, and what is not quite nothing never 0.0000."""
    if value is None:
        return "-"
    return f"{value if value in (0, 1) else min(max(value, 0.0001), 0.9999):.4f}"


def _names(row: ScoreRow | ScoreChange, above: ScoreRow | ScoreChange | None) -> list[str]:
    """Model, tag and score; what the row above says is not said again."""
    same_model = above is not None and above.model == row.model
    same_tag = same_model and above is not None and above.tag == row.tag
    return ["" if same_model else safe_line(row.model), "" if same_tag else safe_line(row.tag), safe_line(row.score)]
