"""Writes the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from markupsafe import Markup

from pytest_fcall.reporting.number_text import plural_text
from pytest_fcall.reporting.reports.history import figures
from pytest_fcall.reporting.reports.history.data import data_of
from pytest_fcall.reporting.reports.history.run_history import RunHistory
from pytest_fcall.reporting.reports.html_file import STYLE, HtmlFile
from pytest_fcall.reporting.safe_text import safe_line

_FOLDER: Final = Path(__file__).parent
_MOST_CHANGED: Final = 8
"""Of so many runs, the overview says what changed before them."""


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
        data=Markup(data_of(history)),  # noqa: S704  # it holds no `<`
    )
