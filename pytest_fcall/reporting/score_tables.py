"""Tables of scores: by tag, by suite, and between two runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from pytest_fcall.core.extension import Figure, Table
from pytest_fcall.reporting.number_text import count_text, percent_text, score_text
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.terminal import NO_END, column_count, cut_end, table_lines

_TITLES = ("model", "tag", "score", "n", "value", "std", "runs", "no reply")
_CHANGE_TITLES = ("model", "tag", "score", "n", "before", "now", "change")


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A score over the cases of a tag, for one model."""

    model: str
    tag: str
    score: str
    cases: int
    value: float | None
    """From 0 to 1; None if it is undefined, as without cases."""
    no_reply: int = 0
    """Cases without a reply, which are not scored."""
    runs: int = 0
    """The number of times that all cases were asked, if more than once."""
    spread: float | None = None
    """The standard deviation of the score between these runs."""


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
    """A table of scores; no lines without scores."""
    written = [
        [
            *_names(row, rows[place - 1] if place else None),
            f"{row.cases:,}" if row.cases else "-",
            score_text(row.value),
            "" if row.spread is None else score_text(row.spread),
            count_text(row.runs or None),
            count_text(row.no_reply or None),
        ]
        for place, row in enumerate(rows)
    ]
    return _lines_by_model(_TITLES, written, width) if rows else []


def score_change_lines(changes: Sequence[ScoreChange], width: int = 100) -> list[str]:
    """A table of scores before and now; no lines without scores."""
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
    return _lines_by_model(_CHANGE_TITLES, written, width) if changes else []


def _lines_by_model(titles: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """A table whose first column is the model; where it does not fit, a model has a line of its own above its rows."""
    whole = table_lines(titles, rows, texts=3, width=NO_END)
    if max(map(column_count, whole)) <= width:
        return whole
    title, *lines = table_lines(titles[1:], [row[1:] for row in rows], texts=2, width=width)
    parts = ([*([f"{row[0]}:"] if row[0] else []), line] for row, line in zip(rows, lines, strict=True))
    return [title, *chain.from_iterable(parts)]


def _names(row: ScoreRow | ScoreChange, above: ScoreRow | ScoreChange | None) -> list[str]:
    """Model, tag and score, without those that the row above has, too."""
    same_model = above is not None and above.model == row.model
    same_tag = same_model and above is not None and above.tag == row.tag
    return ["" if same_model else safe_line(row.model), "" if same_tag else safe_line(row.tag), safe_line(row.score)]


def suite_score_lines(suite: str, scores: Mapping[str, Sequence[Figure]], width: int = 100) -> list[str]:
    """A table of a suite's scores, with a column for each model; no lines without scores."""
    titles = dict.fromkeys(_title(figure) for figures in scores.values() for figure in figures)
    shares = {model: {_title(figure): figure.share for figure in figures} for model, figures in scores.items()}
    rows = [[safe_line(title), *(percent_text(shares[model].get(title)) for model in shares)] for title in titles]
    return table_lines([safe_line(suite), *map(safe_line, shares)], rows, texts=1, width=width) if rows else []


def short_suite_score_lines(suite: str, scores: Mapping[str, Sequence[Figure]], width: int = 100) -> list[str]:
    """A line of known scores for each model. The overall score is first, as long lines are cut."""
    lines = []
    for model, figures in scores.items():
        known = sorted((each for each in figures if each.share is not None), key=lambda each: each.name != "overall")
        listed = ", ".join(f"{_title(each)} {percent_text(each.share)}" for each in known)
        name = f"{suite}, {model}" if len(scores) > 1 else suite
        lines += [cut_end(safe_line(f"{name}: {listed}"), width)] if listed else []
    return lines


def own_table_lines(model: str, table: Table, width: int = 100) -> list[str]:
    """A suite's own table for one model; without a model, that of stored answers."""
    titles, *rows = [list(map(safe_line, row)) for row in (table.titles, *table.rows)]
    return [*([cut_end(safe_line(f"{model}:"), width)] if model else []), *table_lines(titles, rows, 1, width)]


def _title(figure: Figure) -> str:
    return f"{figure.title} ({figure.note})" if figure.note else figure.title
