"""Tables of scores: by tag, by suite, and between two runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fcall.core.extension import Figure
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.statistics import count_text
from pytest_fcall.reporting.terminal import cut_end, table_lines

_TITLES = ("model", "tag", "score", "n", "value", "no reply")
_CHANGE_TITLES = ("model", "tag", "score", "n", "before", "now", "change")


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


def score_change_lines(changes: Sequence[ScoreChange], width: int = 100) -> list[str]:
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
    return table_lines(_CHANGE_TITLES, written, texts=3, width=width) if changes else []


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


def suite_score_lines(suite: str, scores: Mapping[str, Sequence[Figure]], width: int = 100) -> list[str]:
    """A table of a suite's scores, a column a model; none where it has no scores of its own."""
    titles = dict.fromkeys(_title(figure) for figures in scores.values() for figure in figures)
    told = {model: {_title(figure): figure.share for figure in figures} for model, figures in scores.items()}
    rows = [[safe_line(title), *(_percent(told[model].get(title)) for model in told)] for title in titles]
    return table_lines([safe_line(suite), *map(safe_line, told)], rows, texts=1, width=width) if rows else []


def short_suite_score_lines(suite: str, scores: Mapping[str, Sequence[Figure]], width: int = 100) -> list[str]:
    """A line for each model, with what is known of the scores; the one over all goes first, since lines are cut."""
    lines = []
    for model, figures in scores.items():
        known = sorted((each for each in figures if each.share is not None), key=lambda each: each.name != "overall")
        told = ", ".join(f"{_title(each)} {_percent(each.share)}" for each in known)
        who = f"{suite}, {model}" if len(scores) > 1 else suite
        lines += [cut_end(safe_line(f"{who}: {told}"), width)] if told else []
    return lines


def _title(figure: Figure) -> str:
    return f"{figure.title} ({figure.note})" if figure.note else figure.title


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share * 100:.2f} %"
