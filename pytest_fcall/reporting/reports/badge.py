"""A report as a badge: the data that shields.io draws one of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from pytest_fcall.reporting.number_text import accuracy_text
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.statistics import statistics_of

_COLOURS: Final = {0: "brightgreen", 1: "red"}


def write(report: Report) -> Iterator[str]:
    """The data as JSON."""
    counted = statistics_of(report.results.results)
    message, colour = "not judged", "lightgrey"
    if counted.answered:
        accuracy = accuracy_text(counted.right, counted.answered)
        message = accuracy if report.status in _COLOURS else f"{accuracy}, {report.title}"
        colour = _COLOURS.get(report.status, colour)
    yield json.dumps({"schemaVersion": 1, "label": "tool calls", "message": message, "color": colour}) + "\n"
