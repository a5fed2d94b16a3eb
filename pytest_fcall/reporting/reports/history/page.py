"""The page of a history: its figures, and the data for its script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from markupsafe import Markup

from pytest_fcall.core import Json
from pytest_fcall.reporting.number_text import plural_text
from pytest_fcall.reporting.reports.history import figures
from pytest_fcall.reporting.reports.history.figures import anchor_of
from pytest_fcall.reporting.reports.history.run_history import CaseKey, RunHistory, key_of
from pytest_fcall.reporting.reports.html_file import STYLE, HtmlFile, packed, script_data
from pytest_fcall.reporting.results import Result, Status
from pytest_fcall.reporting.safe_text import safe_line

_FOLDER: Final = Path(__file__).parent
_MOST_CHANGED: Final = 8
"""Of so many runs, the overview says what changed before them."""
_MOST_REASONS: Final = 3


def write(history: RunHistory) -> Iterator[str]:
    """The text of the page."""
    rows = figures.run_rows(history)
    styles = [STYLE, _FOLDER / "history.css"]
    yield from HtmlFile(_FOLDER / "history.html.jinja", styles, [_FOLDER / "history.js"]).text(
        count=plural_text(len(rows), "run"),
        replays=sum(not run.asked for run in history.runs),
        rows=rows,
        newest_changes=[row for row in rows if row.changes][:_MOST_CHANGED],
        groups=[group.title for group in figures.groups_of(history)],
        charts=[(title, Markup(chart)) for title, chart in figures.charts(history)],  # noqa: S704  # text is escaped
        sides=[*figures.SIDES.values()],
        remarks=[safe_line(remark) for remark in history.remarks],
        data=data_of(history),
    )


def data_of(history: RunHistory) -> Markup:
    """The results of each run, packed, to be unpacked when somebody opens it."""
    cases: dict[CaseKey, int] = {}
    rows: list[Json] = []
    for run in history.runs:
        for result in run.results:
            if key_of(result) not in cases:
                cases[key_of(result)] = len(cases)
                rows.append([*map(safe_line, (result.case, result.model, result.file, result.category)), result.line])
    runs = {anchor_of(run): packed([*_rows(run.results, before, cases)]) for run, before in history.with_earlier()}
    return script_data({"cases": packed(rows), "runs": runs})


def _rows(results: Sequence[Result], before: Mapping[CaseKey, Status], cases: Mapping[CaseKey, int]) -> Iterator[Json]:
    """The fields in the order in which the script names them."""
    for result in results:
        key = key_of(result)
        kinds = [*dict.fromkeys(safe_line(kind) for kind, _ in result.reasons)][:_MOST_REASONS]
        yield [
            cases[key],
            result.status,
            before.get(key, ""),
            result.outcome.value if result.outcome else "",
            " ".join(kinds),
            None if result.seconds is None else float(f"{result.seconds:.4g}"),
            None if result.cost is None else float(f"{result.cost:.4g}"),
        ]
