"""The process that reads the cases of a revision, in the folder of its files: writes their questions to a file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_fcall.cli.pytest_run import InProcessPlugin, run_pytest_offline
from pytest_fcall.cli.revision_side import case_row
from pytest_fcall.core.case import FaultyCase
from pytest_fcall.core.files import replace_file
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.session.endings import CaseEnded


class _QuestionReader(InProcessPlugin):
    """Reads the questions of all collected cases. Runs nothing."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] | None = None
        """None where nothing could be collected."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Read the questions instead of running the items."""
        rows = [_row(item) for item in session.items if isinstance(item, CaseItem)]
        self.rows = rows if rows or not session.testsfailed else None
        return True


def _row(item: CaseItem) -> dict[str, Any]:
    case, (file, _, _) = item.case, item.location
    if isinstance(case, FaultyCase):
        return {"file": file, "case": case.id, "fault": case.faults[0].message}
    try:
        settings = item.context.session.replies.source(item.named).settings if item.named else {}
        return case_row(file, case, item.final_request(settings))
    except CaseEnded as ended:
        return {"file": file, "case": case.id, "fault": str(ended)}


def main(result: str, *files: str) -> int:
    """Write the questions of these case files; 1, and pytest's output, where they cannot be collected."""
    reader = _QuestionReader()
    _, output = run_pytest_offline(["--collect-only", "--continue-on-collection-errors", *files], reader)
    if reader.rows is None:
        print(output)
        return 1
    replace_file(Path(result), [json.dumps(reader.rows, default=dict).encode()], 0o600)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
