"""The pytest plugin of `fcall strength`, which makes mistakes in the cases that a run would take, and asks nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fcall.cli.pytest_run import CaseFilesPlugin
from pytest_fcall.core.case import Case, FaultyCase
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.session.result.strength import accepted_answer
from pytest_fcall.strength.case_strength import CaseStrength, strength_of
from pytest_fcall.strength.figures import FileCase


class StrengthMeter(CaseFilesPlugin):
    """Measures the cases that are selected."""

    def __init__(self, model: str | None) -> None:
        self._model = model
        self.root: Path | None = None
        """The root folder; None where pytest did not get as far as the collection."""
        self.cases: list[FileCase] = []
        self.faulty: list[str] = []
        """Cases with faults, which can notice nothing."""
        self.collected = 0
        """The number of cases, before options deselect some."""
        self.problems: list[str] = []
        """Errors of the collection."""

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note what could not be collected."""
        if report.failed:
            self.problems.append(report.longreprtext)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Count the cases."""
        self.collected = sum(isinstance(item, CaseItem) for item in items)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Measure each case once, whatever the number of models."""
        self.root = session.config.rootpath
        items = {id(item.case): item for item in session.items if isinstance(item, CaseItem)}
        for item in sorted(items.values(), key=lambda item: (str(item.path), item.place)):
            if isinstance(item.case, FaultyCase):
                self.faulty.append(item.asker.again)
            elif item.case.injection is None and item.case.result_fault is None:  # else it is another case once more
                self.cases.append(FileCase(item.path, self._measured(item, item.case)))

    def _measured(self, item: CaseItem, case: Case) -> CaseStrength:
        """The strength of a case, judged by the accepted answer of the named model or of the configured one."""
        model = self._model or (item.named.model.id if item.named else "")
        accepted = accepted_answer(item.context.accepted(model, case.id))
        return strength_of(case, item.context.session.registry.comparators, item.context.match_contexts, accepted)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> bool:
        """Run nothing."""
        return True
