"""Writes the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from markupsafe import Markup

from pytest_fcall.reporting.attacks import attack_titles
from pytest_fcall.reporting.missing import unjudged_lines
from pytest_fcall.reporting.recoveries import recovery_titles
from pytest_fcall.reporting.reports.html_file import STYLE, HtmlFile
from pytest_fcall.reporting.reports.page import overview
from pytest_fcall.reporting.reports.page.data import data_of
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.statistics import statistics_of

_FOLDER: Final = Path(__file__).parent
_LINE: Final = 200
"""The most characters of a line in a list."""
_SCRIPTS: Final = ("elements.js", "cases.js", "case.js", "compare.js", "views.js")
"""In the order in which they use each other: together they are the one script of the page."""


def write(report: Report) -> Iterator[str]:
    """The text of the page."""
    tools, heat = overview.confusion(report)
    counted = statistics_of(report.results.results)
    yield from HtmlFile(_FOLDER / "report.html.jinja", [STYLE], [_FOLDER / name for name in _SCRIPTS]).text(
        report=report,
        title=f"fcall: {report.title}",
        started=safe_line(report.started.replace("T", " ")[:16]),
        models=[safe_line(model) for model in report.models],
        right=counted.right,
        answered=counted.answered,
        results=len(report.results.results),
        sentences=[safe_line(sentence) for sentence in report.sentences],
        unjudged_gates=safe_line(report.unjudged),
        gates=overview.gate_rows(report),
        changes=overview.changes(report),
        stale=overview.stale(report),
        causes=overview.causes(report),
        groups=overview.group_rows(report),
        radar=Markup(overview.radar_chart(report)),  # noqa: S704  # its labels are escaped
        tools=tools,
        heat=heat,
        attacks=overview.attack_rows(report),
        recoveries=overview.recovery_rows(report),
        recovery_titles=recovery_titles(report.results.results),
        attack_titles=[line.strip() for line in attack_titles(report.results.results)],
        distributions=[(title, Markup(chart)) for title, chart in overview.distributions(report)],  # noqa: S704
        varied=overview.varied(report),
        unjudged=list(unjudged_lines(report.results)),
        provenance=[(safe_line(name), safe_line(str(value))) for name, value in report.provenance.items()],
        compares=bool(report.models_compared or report.runs_compared),
        data=Markup(data_of(report)),  # noqa: S704  # it holds no `<`
    )
