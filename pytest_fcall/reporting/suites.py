"""The scores of a suite, as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcall.core.extension import Figure
from pytest_fcall.reporting.columns import head
from pytest_fcall.reporting.safe import safe_line
from pytest_fcall.reporting.table import table_lines


def suite_lines(suite: str, scores: Mapping[str, Sequence[Figure]], width: int = 100) -> list[str]:
    """A table of a suite's scores, a column a model; none where it has no scores of its own."""
    titles = dict.fromkeys(_title(figure) for figures in scores.values() for figure in figures)
    told = {model: {_title(figure): figure.share for figure in figures} for model, figures in scores.items()}
    rows = [[safe_line(title), *(_percent(told[model].get(title)) for model in told)] for title in titles]
    return table_lines([safe_line(suite), *map(safe_line, told)], rows, texts=1, width=width) if rows else []


def short_suite_lines(suite: str, scores: Mapping[str, Sequence[Figure]], width: int = 100) -> list[str]:
    """A line for each model, with what is known of the scores; the one over all goes first, since lines are cut."""
    lines = []
    for model, figures in scores.items():
        known = sorted((each for each in figures if each.share is not None), key=lambda each: each.name != "overall")
        told = ", ".join(f"{_title(each)} {_percent(each.share)}" for each in known)
        who = f"{suite}, {model}" if len(scores) > 1 else suite
        lines += [head(safe_line(f"{who}: {told}"), width)] if told else []
    return lines


def _title(figure: Figure) -> str:
    return f"{figure.title} ({figure.note})" if figure.note else figure.title


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share * 100:.2f} %"
