"""The plugin of pytest by which a command has a model answer cases."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_fcall.cli.pytest_run import InProcessPlugin
from pytest_fcall.plugin.item import CaseItem
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
