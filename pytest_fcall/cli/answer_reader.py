"""Plugins of pytest by which a command has a model answer cases."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.cases.faults import UnreadableFile
from pytest_fcall.cli.pytest_run import InProcessPlugin
from pytest_fcall.core.case import Case
from pytest_fcall.plugin.collection import CaseFile
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.plugin.redaction import secrets_of
from pytest_fcall.plugin.settings import outside_paths
from pytest_fcall.session.judge.samples import CaseAnswers


class AnswerReader(InProcessPlugin):
    """Reads the answers to the cases of a run; verdicts are ignored."""

    def __init__(self) -> None:
        self.answers: dict[str, CaseAnswers] = {}
        """The answers by case id. The first answer is judged."""
        self.failures: dict[str, str] = {}
        """The reasons why there is no answer, by case id."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Read the answers of the case, or the failure of its setup."""
        report = yield
        if isinstance(item, CaseItem):
            if call.when == "call" and item.run and item.run.answers.judged:
                self.take(item, item.run.answers)
            elif call.when == "setup" and not report.passed:
                self.failures[item.case.id] = str(call.excinfo.value) if call.excinfo else "the case was skipped"
        return report

    def take(self, item: CaseItem, answers: CaseAnswers) -> None:
        """Take the answers to a case."""
        self.answers[item.case.id] = answers


class AnswerCollector(AnswerReader):
    """Runs only the wanted cases of a file, with another text of the file, and collects their answers."""

    def __init__(self, path: Path, text: str, wanted: frozenset[str]) -> None:
        super().__init__()
        self._path = path
        self._text = text
        self._wanted = wanted

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep one item for each wanted case, and give it the case of the other text."""
        files = {item.parent for item in items if isinstance(item.parent, CaseFile)}
        cases = {file: self._cases(file) for file in files}
        kept: dict[str, CaseItem] = {}
        for item in items:
            if isinstance(item, CaseItem) and item.parent in cases:
                case = cases[item.parent].get(item.case.id)
                if case is not None:
                    item.case = case
                    kept.setdefault(case.id, item)
        items[:] = kept.values()

    def _cases(self, file: CaseFile) -> Mapping[str, Case]:
        if file.path != self._path:
            return {}
        try:
            content = read_case_text(
                self._text,
                file.path,
                root=file.config.rootpath,
                outside=outside_paths(file.config),
                extensions=file.extensions,
            )
        except UnreadableFile:
            return {}
        return {entry.id: entry for entry in content.entries if isinstance(entry, Case) and entry.id in self._wanted}

    def take(self, item: CaseItem, answers: CaseAnswers) -> None:
        """Take the answers to a case, unless they hold a secret."""
        secrets = secrets_of(item.config)
        if any(secrets.may_be_in(repr(judged.calls)) for judged in answers.judged):
            self.failures[item.case.id] = "its answer holds a secret, which belongs into no case file"
        else:
            super().take(item, answers)
