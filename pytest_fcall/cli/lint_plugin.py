"""The pytest plugin of `fcall lint`, which reads the case files that pytest collects, and runs nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.cases.files import path_fault
from pytest_fcall.cli.pytest_run import CaseFilesPlugin
from pytest_fcall.core.case import Case, Fault, judge_fault
from pytest_fcall.plugin import not_collected
from pytest_fcall.plugin.collection import UnreadableCaseFile
from pytest_fcall.plugin.collection_findings import collection_findings, uncollected_lines
from pytest_fcall.plugin.item import CaseItem


class CaseFileReader(CaseFilesPlugin):
    """Collects case files as a run does, with its configuration and conftest files. Test modules are left out."""

    def __init__(self) -> None:
        self.root: Path | None = None
        """The root folder; None where pytest did not get as far as the collection."""
        self.files = 0
        self.cases = 0
        self.faults: list[Fault] = []
        self.problems: list[str] = []
        """Other errors of the collection, such as that of a conftest.py."""
        self.uncollected: list[str] = []
        """Lines on files that look like case files."""
        self._unreadable: list[Fault] = []

    def pytest_exception_interact(
        self, call: pytest.CallInfo[object], report: pytest.CollectReport | pytest.TestReport
    ) -> None:
        """Note what could not be collected."""
        error = call.excinfo.value if call.excinfo else None
        if isinstance(error, UnreadableCaseFile):
            self._unreadable.append(error.fault)
        else:
            self.problems.append(report.longreprtext)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Look at all cases, before any option deselects some. Under several models each is there more than once."""
        entries = {id(item.case): item.case for item in items if isinstance(item, CaseItem)}
        late = (judge_fault(entry) for entry in entries.values() if isinstance(entry, Case))
        paths = (path_fault(file.path, config.rootpath) for file in collection_findings(config).files)
        found = [*collection_findings(config).faults, *self._unreadable, *(fault for fault in (*late, *paths) if fault)]
        self.faults = sorted(found, key=lambda fault: (fault.location.path, fault.location.line))
        self.root, self.cases = config.rootpath, len(entries)
        self.files = len(collection_findings(config).files) + len(self._unreadable)
        self.uncollected = list(uncollected_lines(config, not_collected(config)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> bool:
        """Run nothing."""
        return True
