"""A report as the file of its run: all of its data, as in `.fcall/runs`."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pytest_fcall.reporting.reports.report import Report


def write(report: Report) -> Iterator[str]:
    """The JSON of the run."""
    yield json.dumps(report.data, indent=1, ensure_ascii=True) + "\n"
