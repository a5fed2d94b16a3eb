"""A report as a badge: what it says, and the data that shields.io draws one of."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final, NamedTuple

from pytest_fcall.reporting.number_text import accuracy_text
from pytest_fcall.reporting.reports.report import Report
from pytest_fcall.reporting.statistics import statistics_of

_COLOURS: Final = {0: "brightgreen", 1: "red"}


class Badge(NamedTuple):
    """The two texts of a badge, and the colour of the second."""

    label: str
    message: str
    colour: str


def badge_of(report: Report) -> Badge:
    """The badge of a run: grey unless it passed or failed."""
    counted = statistics_of(report.results.results)
    message, colour = "not judged", "lightgrey"
    if counted.answered:
        accuracy = accuracy_text(counted.right, counted.answered)
        message = accuracy if report.status in _COLOURS else f"{accuracy}, {report.title}"
        colour = _COLOURS.get(report.status, colour)
    return Badge("tool calls", message, colour)


def write(report: Report) -> Iterator[str]:
    """The data as JSON."""
    label, message, colour = badge_of(report)
    yield json.dumps({"schemaVersion": 1, "label": label, "message": message, "color": colour}) + "\n"
