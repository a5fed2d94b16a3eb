"""The pytest plugin of `fcall draft`, which reads the texts of replies."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_fcall.cli.pytest_run import InProcessPlugin
from pytest_fcall.plugin.item import CaseItem


class ReplyReader(InProcessPlugin):
    """Reads what the model wrote in each case; verdicts are ignored."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        """The texts by case id."""
        self.failures: dict[str, str] = {}
        """The reasons why there is no text, by case id."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Read the reply of the case, or the failure of its setup."""
        report = yield
        if isinstance(item, CaseItem):
            if call.when == "call" and item.run and item.run.answers.judged:
                self.texts[item.case.id] = item.run.answers.judged[0].reply.text
            elif call.when == "setup" and not report.passed:
                self.failures[item.case.id] = str(call.excinfo.value) if call.excinfo else "the case was skipped"
        return report
