"""`--fc-report=bfcl:DIR`: answers and verdicts in the file formats of a suite's own tools."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeAlias, cast, runtime_checkable

import pytest

from pytest_fcall.core import Case, Json, Model, Reply, Transcript, Verdict
from pytest_fcall.core.files import replace_file
from pytest_fcall.plugin.item import CaseItem
from pytest_fcall.plugin.redaction import secrets_of, tell, usage_error
from pytest_fcall.plugin.run_reports import reports_of
from pytest_fcall.plugin.session import registry_of
from pytest_fcall.reporting.results import Result, Results
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.session.judge.samples import JudgedAnswer

Row: TypeAlias = "Mapping[str, Json]"


@runtime_checkable
class _ReportingSuite(Protocol):
    """A suite with files of its own."""

    def row(self, case: Case, reply: Reply, verdict: Verdict, /) -> Row:
        """The row of an answer."""
        ...

    def conversation_row(self, case: Case, transcript: Transcript, verdict: Verdict, /) -> Row:
        """The row of a conversation."""
        ...

    def files(
        self,
        rows: Mapping[str, Sequence[Row]],
        costs: Mapping[str, float | None],
        read_text: Callable[[str], str | None],
        /,
    ) -> Iterable[tuple[str, str]]:
        """The paths and texts of the files of some models; `read_text` gives what a file holds already."""
        ...


def write_suite_files(config: pytest.Config) -> None:
    """Register the writer of the suites' own files, where the command line or the configuration names some."""
    folders = {file.kind: file.path for file in reports_of(config) if file.is_of_suite and file.path}
    if folders:
        config.pluginmanager.register(SuiteReports(config, folders), "fcall-suite-reports")


class SuiteReports:
    """Adds the rows of suites to reports where cases run, and writes them where reports arrive."""

    def __init__(self, config: pytest.Config, folders: Mapping[str, Path]) -> None:
        self._config = config
        self._folders = folders
        self._rows: dict[str, Row] = {}
        self._faults: list[str] = []

    def pytest_sessionstart(self) -> None:
        """Refuse suites that have no files of their own."""
        suites = registry_of(self._config).suites
        for name in self._folders:
            if not isinstance(suites.get(name), _ReportingSuite):
                able = [known for known in suites if isinstance(suites[known], _ReportingSuite)]
                text = f"--fc-report: {name!r} has no files of its own; {', '.join(able)} has"
                raise usage_error(self._config, text)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Send the row along with the report."""
        report = yield
        if isinstance(item, CaseItem) and report.when == "call" and item.run and (judged := item.run.judged):
            case = item.run.case
            if case.suite in self._folders:
                row = secrets_of(self._config).redacted_fields(self._row(case, judged.result.shown))
                report.fcall_row = row  # type: ignore[attr-defined]  # as in `report`
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the row; where a test was run again, the last one counts."""
        if (row := getattr(report, "fcall_row", None)) is not None:
            self._rows[report.nodeid] = row

    def pytest_fcall_report(self, results: Results) -> None:
        """Write the files."""
        for name, folder in self._folders.items():
            own = [result for result in results.results if result.suite == name and result.nodeid in self._rows]
            models: dict[str, list[Result]] = {}
            for result in sorted(own, key=lambda result: result.place):
                models.setdefault(Model.by_id(result.model).name, []).append(result)
            rows = {model: [self._rows[result.nodeid] for result in of_it] for model, of_it in models.items()}
            costs = {model: _cost(of_it) for model, of_it in models.items()}
            try:
                _write(self._suite(name), rows, costs, folder)
            except OSError as error:
                self._faults.append(f"--fc-report: {folder} is not whole: {error.strerror or error}")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name the reports that could not be written after all."""
        for fault in self._faults:
            tell(terminalreporter, [safe_line(fault)])

    def _suite(self, name: str) -> _ReportingSuite:
        """A suite that `pytest_sessionstart` found to have files of its own."""
        return cast("_ReportingSuite", registry_of(self._config).suites[name])

    def _row(self, case: Case, shown: JudgedAnswer) -> Row:
        suite = self._suite(case.suite)
        if shown.answer.transcript is not None:
            transcript = shown.answer.transcript
            # Earlier conversations belong to the row of the case that they were held for.
            whole = transcript if shown.answer.before else replace(transcript, earlier=())
            return suite.conversation_row(case, whole, shown.verdict)
        return suite.row(case, shown.reply, shown.verdict)


def _write(
    suite: _ReportingSuite, rows: Mapping[str, Sequence[Row]], costs: Mapping[str, float | None], folder: Path
) -> None:
    """Write the files of a suite, which may look at what is there. Raises OSError."""

    def there(place: str) -> str | None:
        try:
            return (folder / place).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None

    for place, text in list(suite.files(rows, costs, there)) if rows else ():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, [text.encode()])


def _cost(results: Iterable[Result]) -> float | None:
    """The cost of all of them; None where that of one is not known."""
    costs = [result.cost for result in results]
    return None if None in costs else sum(cost for cost in costs if cost is not None)
