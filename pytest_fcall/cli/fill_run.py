"""What a model answers to cases that expect nothing yet: `fcall fill` uses it."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.core import Case
from pytest_fcall.plugin.collection import CaseFile
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.session.judge.samples import CaseAnswers


class FillRun:
    """A plugin that runs only these cases of a file, as another text of it says them."""

    def __init__(self, path: Path, text: str, wanted: frozenset[str]) -> None:
        self._path = path
        self._text = text
        self._wanted = wanted
        self.answers: dict[str, CaseAnswers] = {}
        """What came, by case; the first answer is judged."""
        self.failed: dict[str, str] = {}
        """Why nothing came."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        """Run here: answers do not travel among workers."""
        if hasattr(config.option, "dist"):
            config.option.dist, config.option.numprocesses, config.option.tx = "no", None, []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the items of these cases, and give them the cases of the other text."""
        files = {item.parent for item in items if isinstance(item.parent, CaseFile)}
        cases = {file: self._cases(file) for file in files}
        kept: dict[str, CaseItem] = {}
        for item in items:
            found = (
                cases[item.parent].get(item.case.id) if isinstance(item, CaseItem) and item.parent in cases else None
            )
            if found is not None and isinstance(item, CaseItem):
                item.case = found
                kept.setdefault(found.id, item)
        items[:] = kept.values()

    def _cases(self, file: CaseFile) -> Mapping[str, Case]:
        if file.path != self._path:
            return {}
        try:
            read = read_case_text(self._text, file.path, root=file.config.rootpath, extensions=file.extensions)
        except UnreadableFile:
            return {}
        return {entry.id: entry for entry in read.entries if isinstance(entry, Case) and entry.id in self._wanted}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Note what came of the case; the verdict, on an expectation that nobody wrote, says nothing."""
        report = yield
        if isinstance(item, CaseItem):
            if call.when == "call" and item.run and item.run.answers.judged:
                self.answers[item.case.id] = item.run.answers
            elif call.when == "setup" and not report.passed:
                self.failed[item.case.id] = str(call.excinfo.value) if call.excinfo else "it was skipped"
        return report
