"""A report as a badge: the data that shields.io draws one of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from pytest_fcall.reporting.number_text import accuracy_text
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.statistics import statistics_of

COLOURS: Final = {0: "brightgreen", 1: "red"}
LABEL: Final = "tool calls"


def write(report: Report) -> Iterator[str]:
    """The data as JSON."""
    colour = COLOURS.get(report.status, "lightgrey")
    yield json.dumps({"schemaVersion": 1, "label": LABEL, "message": message_of(report), "color": colour}) + "\n"


def message_of(report: Report) -> str:
    """What the badge says: the accuracy, or that there is none."""
    counted = statistics_of(report.results.results)
    if not counted.answered:
        return "not judged"
    accuracy = accuracy_text(counted.right, counted.answered)
    return accuracy if report.status in (0, 1) else f"{accuracy}, {report.title}"
