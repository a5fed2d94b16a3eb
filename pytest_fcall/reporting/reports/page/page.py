"""Writes the page."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from pytest_fcall.reporting.missing import unjudged_lines
from pytest_fcall.reporting.reports.page import overview
from pytest_fcall.reporting.reports.page.data import data_of
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.statistics import statistics_of

_FOLDER: Final = Path(__file__).parent


def write(report: Report) -> Iterator[str]:
    """The text of the page."""
    style, script = ((_FOLDER / name).read_text(encoding="utf-8") for name in ("style.css", "script.js"))
    tools, heat = overview.confusion(report)
    counted = statistics_of(report.results.results)
    template = _environment().get_template("report.html.jinja")
    yield from template.generate(
        report=report,
        title=f"fcall: {report.title}",
        started=safe_line(report.started.replace("T", " ")),
        models=[safe_line(model) for model in report.models],
        right=counted.right,
        answered=counted.answered,
        results=len(report.results.results),
        sentences=[safe_line(sentence) for sentence in report.sentences],
        unjudged_gates=safe_line(report.unjudged),
        gates=overview.gate_rows(report),
        changes=overview.changes(report),
        causes=overview.causes(report),
        groups=overview.group_rows(report),
        radar=Markup(overview.radar_chart(report)),  # noqa: S704  # its labels are escaped
        tools=tools,
        heat=heat,
        distributions=[(title, Markup(chart)) for title, chart in overview.distributions(report)],  # noqa: S704
        unjudged=list(unjudged_lines(report.results)),
        provenance=[(safe_line(name), safe_line(str(value))) for name, value in report.provenance.items()],
        policy=_policy(style, script),
        style=Markup(style),  # noqa: S704  # a file of this package
        script=Markup(script),  # noqa: S704  # a file of this package
        data=Markup(data_of(report)),  # noqa: S704  # it holds no `<`
    )


def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _policy(style: str, script: str) -> str:
    """What a browser may do with the page: run this script and use this style, and ask nobody for anything."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"
