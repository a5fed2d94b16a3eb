"""Results, gathered where reports arrive, and what is said of them at the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_fcall.plugin.noted import noted
from pytest_fcall.reporting import last_line, summary_lines
from pytest_fcall.reporting.results import Result, Results, result_from_json

INCONCLUSIVE = 10
"""The exit status of a run in which replies are missing and nothing failed."""


class Gathering:
    """Takes results out of reports, and prints the summary."""

    def __init__(self, config: pytest.Config, failed: bool) -> None:
        self._config = config
        self._failed = failed
        """Whether anything failed that more replies could not have changed."""
        self._unanswered: set[str] = set()
        self._results: dict[str, Result] = {}
        self._missing: set[str] = set()
        self._files_without_cases = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the result; where a test was run again, the last one counts."""
        sent: Mapping[str, Any] | None = getattr(report, "fcall", None)
        if report.failed:
            self._failed |= not (sent and sent["unanswered"])
        if sent is None or report.outcome == "rerun":  # type: ignore[comparison-overlap]  # of pytest-rerunfailures
            return
        self._results[report.nodeid] = result_from_json(sent["result"])
        if sent["missing"]:
            self._missing.add(report.nodeid)
        if sent["unanswered"]:
            self._unanswered.add(report.nodeid)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker noticed; each of them collects everything, so the numbers are the same."""
        output = getattr(node, "workeroutput", {})
        self._files_without_cases = max(self._files_without_cases, output.get("fcall_files_without_cases", 0))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        """Tell other plugins, then people."""
        results = self.results()
        config.hook.pytest_fcall_report(config=config, results=results)
        quiet = config.get_verbosity() < 0
        lines = [last_line(results)] if quiet else summary_lines(results, config.get_terminal_writer().fullwidth)
        if not quiet:
            terminalreporter.section("tool calls", sep="-")
        for line in lines:
            terminalreporter.line(line)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Where nothing is wrong but that replies are missing, nobody knows how the model does."""
        if session.exitstatus == pytest.ExitCode.TESTS_FAILED and self._unanswered and not self._failed:
            session.exitstatus = INCONCLUSIVE

    def results(self) -> Results:
        """Everything that came in."""
        here = noted(self._config).files_without_cases
        return Results(tuple(self._results.values()), len(self._missing), max(here, self._files_without_cases))
