"""A report as workflow commands of GitHub, which shows them at the lines of the case files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from pytest_fcall.core.verdict import Outcome
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line

_MOST: Final = 10
"""GitHub shows so many of each kind for a step."""


def write(report: Report) -> Iterator[str]:
    """A line for each case that failed or may have regressed."""
    shown = Counter[str]()
    for result in report.results.results:
        if kind := _kind(result):
            shown[kind] += 1
            if shown[kind] <= _MOST:
                yield _command(kind, result, report)


def _kind(result: Result) -> str:
    if result.outcome is Outcome.UNDECIDED:
        return "warning"
    return "error" if result.status in ("failed", "error") else ""


def _command(kind: str, result: Result, report: Report) -> str:
    title = f"{result.outcome or result.status}: {report.named(result)}"
    where = f"file={_property(result.file)},line={result.line},title={_property(title)}"
    return f"::{kind} {where}::{_message(report.why(result))}\n"


def _message(text: str) -> str:
    return safe_line(text).replace("%", "%25").replace("::", "%3A%3A")


def _property(text: str) -> str:
    return safe_line(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
