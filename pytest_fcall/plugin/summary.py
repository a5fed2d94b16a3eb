"""The end of a run, where reports arrive: its exit status, what is kept of it, and the summary."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fcall.core.verdict import Outcome
from pytest_fcall.plugin import not_collected
from pytest_fcall.plugin.acceptance import BaselineWriter, keep_texts
from pytest_fcall.plugin.collection_findings import collection_findings, uncollected_lines
from pytest_fcall.plugin.redaction import print_lines
from pytest_fcall.plugin.report import CaseReport, attach, case_report, lists_passed, shows_passed_calls
from pytest_fcall.plugin.report_text import (
    CaseText,
    PrintedCauses,
    SilentReports,
    print_passed,
    shorten_skips,
    test_name,
)
from pytest_fcall.plugin.reported_results import ReportedResults, WorkerFindings
from pytest_fcall.plugin.session import gates_of, session_of
from pytest_fcall.plugin.settings import settings_of
from pytest_fcall.plugin.terminal import terminal_encoding, verbosity
from pytest_fcall.reporting.answer_lines import missing_lines
from pytest_fcall.reporting.results import Result, Results
from pytest_fcall.reporting.run_table import file_table, models_of
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.summary import one_line_summary, summary_lines
from pytest_fcall.reporting.terminal import NO_END
from pytest_fcall.session.ask.costs import forget_ledger
from pytest_fcall.session.result.exit_status import INCONCLUSIVE, RunFailures
from pytest_fcall.session.result.run_store import account_writer, store_run
from pytest_fcall.session.session import Session

if TYPE_CHECKING:
    from pytest_fcall.session.result.gates import Gates
    from pytest_fcall.tracking.gates import GateVerdict


class Summary:
    """Takes results out of reports, and prints the summary. `failures` reports failed before it was registered."""

    def __init__(self, config: pytest.Config, failures: int = 0) -> None:
        self._config = config
        self._failed_reports = failures
        self._failures = RunFailures(otherwise=failures > 0)
        self._verdicts: list[GateVerdict] | None = None
        """The verdicts on the gates, once they are judged."""
        self._worse: list[str] = []
        """A line for each model that is worse than before."""
        self._started = time.time()
        self._run_note = ""
        """The path of the run's file, or why there is none."""
        self._bisected: list[str] = []
        """The findings of the search for guilty edits, where there was one."""
        self._reports: list[str] = []
        """The reports that go to the terminal, and where the others are, line by line."""
        self._reported = ReportedResults(config)
        self._workers = WorkerFindings()
        self._causes = PrintedCauses()
        self._silent = SilentReports(config)
        self._accounts = account_writer(settings_of(config), self._started)
        self._baselines = BaselineWriter(config)

    @property
    def _session(self) -> Session:
        return session_of(self._config)

    @property
    def _gates(self) -> Gates | None:
        """The gates; None where nothing is said of any."""
        given = (
            *map(self._config.getoption, ("fc_gate", "fc_fail")),
            *map(self._config.getini, ("fc_gates", "fc_fail")),
        )
        if not any(given):
            return None
        return gates_of(self._config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the result; where a test was run again, the last one counts, or the one with a forbidden call."""
        if report.when == "setup":
            self._silent.drop(self._reported.by_test)
        attached = case_report(report)
        if attached and isinstance(report.longrepr, str):
            self._lay_out(report, report.longrepr, attached.result)
        if report.failed:
            self._count_failure(attached)
        if report.when == "teardown":
            self._price(report)
        if attached and attached.account:  # also of a test that is run again: tools are in the first account only
            self._accounts.add(attached.account)
            attach(report, attached := attached._replace(account=""))
        is_last = report.outcome in ("passed", "failed", "skipped")  # else "rerun", of pytest-rerunfailures
        if attached and is_last:
            self._reported.keep(report.nodeid, attached)
        elif attached:
            self._keep_attempt(report.nodeid, attached)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count failures outside the cases."""
        if report.failed:
            self._count_failure(None)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker noticed."""
        output = getattr(node, "workeroutput", {})
        self._baselines.add_stale(output)
        self._workers.add(node.workerinput["testrunuid"], output)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Judge the gates, and set the exit status where the run was not broken off."""
        for run in self._workers.runs:
            forget_ledger(self._config.rootpath, run)
        settings = self._session.settings
        shard, gates = settings.shard, self._gates
        measured = self._measured(gates)
        reported = self._reported
        self._baselines.finish(session, tuple(reported.by_test.values()), self._started)
        if reported.texts:
            self._baselines.lines += keep_texts(reported.texts, self._config.rootpath)
        reported.by_test = measured
        self._failures.unrecorded = reported.lacks_replies and settings.missing != "skip"
        self._failures.otherwise |= self._baselines.failed
        self._failures.otherwise |= session.testsfailed > self._failed_reports  # such as too little coverage
        left_to_others = collection_findings(self._config).left_to_others or self._workers.left_to_others
        is_empty = session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED
        if is_empty and left_to_others:
            session.exitstatus = pytest.ExitCode.OK  # what other shards select is not known here
        ran_to_its_end = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        broken_off = not ran_to_its_end or bool(session.shouldfail)
        if not (broken_off or shard):
            results = tuple(measured.values())
            self._verdicts = gates.judge(results, self._session.registry.suites) if gates else []
            self._worse = _worse_lines(results)
            self._failures.worse = bool(self._worse)
        if ran_to_its_end:
            fail = gates.fail if gates and not broken_off else "items"
            session.exitstatus = self._failures.exit_status(fail, self._verdicts or ())
        stopped_by_xdist = session.exitstatus == pytest.ExitCode.INTERRUPTED and session.shouldfail  # by -x
        if stopped_by_xdist and self._failures.exit_status("items", ()) == INCONCLUSIVE:
            session.exitstatus = INCONCLUSIVE
        if settings.bisect and not broken_off:
            from pytest_fcall.plugin.suspects import bisect_regressions

            reported.by_test, self._bisected = bisect_regressions(session, reported.by_test, settings.bisect)
        self._store_run(broken_off=broken_off, empty=is_empty)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        """Pass the results on to other plugins, then print the summary."""
        results = self.results()
        config.hook.pytest_fcall_report(config=config, results=results)
        quiet = verbosity(config) < 0
        shorten_skips(terminalreporter.stats.get("skipped", ()))
        if shows_passed_calls(config) and not lists_passed(config):
            print_passed(terminalreporter)
        if not quiet:
            terminalreporter.section("tool calls", sep="-")
        uncollected = uncollected_lines(config, not_collected(config))
        print_lines(terminalreporter, (*uncollected, *(self._short_lines(results) if quiet else self._lines(results))))
        print_lines(terminalreporter, (*self._bisected, *self._worse, *self._baselines.lines))
        print_lines(terminalreporter, (*self._gate_lines(quiet=quiet), *self._reports))

    def results(self) -> Results:
        """All results, in the order of the cases, in whatever order they came."""
        here = collection_findings(self._config).files_without_cases
        files_without_cases = max(here, self._workers.files_without_cases)
        return self._reported.together(files_without_cases=files_without_cases, stale=self._baselines.stale)

    def _lay_out(self, report: pytest.TestReport, text: str, result: Result | None) -> None:
        """Have pytest print the text in colour, by its first line in the short summary, and each cause once."""
        file, line, _ = report.location
        shown = CaseText(text, result.file, result.line) if result else CaseText(text, file, (line or 0) + 1)
        report.longrepr = shown  # type: ignore[assignment]  # pytest takes whatever has a `toterminal`
        # pytest would begin with the worker and its version of Python, which explain no answer of a model.
        report.toterminal = shown.toterminal  # type: ignore[method-assign]
        # One that is run again is not printed.
        if report.failed and (report.when == "setup" or (result is None and report.when == "call")):
            self._causes.add(report.nodeid, result.case if result else test_name(report), shown)

    def _price(self, report: pytest.TestReport) -> None:
        """Put the cost, which only this process knows, into the properties: JUnit takes them from the last report."""
        result = self._reported.by_test.get(report.nodeid)
        if result and result.cost is not None:
            report.user_properties.append(("fcall_cost", f"{result.cost:.6f}"))

    def _count_failure(self, attached: CaseReport | None) -> None:
        self._failed_reports += 1
        if attached and attached.missing:
            return
        if attached and attached.unanswered:
            self._failures.unanswered = True
        elif attached and attached.judged and attached.result:
            undecided = attached.result.outcome is Outcome.UNDECIDED
            self._failures.undecided |= undecided
            self._failures.verdicts |= not undecided
            self._failures.forbidden |= attached.result.has_forbidden_call
        else:
            self._failures.otherwise = True

    def _keep_attempt(self, nodeid: str, attached: CaseReport) -> None:
        """Keep what counts of an attempt that is run again: its report is no failed one, whatever it found."""
        result = attached.result
        if result and attached.judged and result.has_forbidden_call:
            self._failures.verdicts = self._failures.forbidden = True
            self._reported.keep_forbidden(nodeid, attached)
        elif result and attached.judged:
            self._reported.dropped += result.samples[1] if result.samples else 1

    def _short_lines(self, results: Results) -> Iterator[str]:
        width = self._config.get_terminal_writer().fullwidth
        if _has_scores(results):
            from pytest_fcall.session.result.suite_scores import short_score_lines

            yield from short_score_lines(self._session.registry.suites, results.results, width)
        yield from self._unused_tag_lines(results)
        yield from self._stray_lines()
        yield from self._reported.attempt_lines()
        yield from missing_lines(results, short=True)
        yield one_line_summary(results)

    def _lines(self, results: Results) -> Iterator[str]:
        width = self._config.get_terminal_writer().fullwidth
        if verbosity(self._config) > 0:
            yield from self._verbose_lines(results, width)
        session = self._session
        self._workers.add_throughputs(session.replies.throughputs())
        yield from map(safe_line, self._workers.throughput_lines())
        ours = (*session.replies.notes(), *session.baselines.notes(), *session.doubt.notes)
        here = [*ours, session.costs.fault, self._run_note]
        yield from (safe_line(note) for note in (*self._workers.notes, *here) if note)
        yield from self._stray_lines()
        yield from self._reported.attempt_lines()
        yield from (safe_line(f"{nodeid}: {remark}") for nodeid, remark in self._reported.remarks.items() if remark)
        if _has_scores(results):
            from pytest_fcall.session.result.suite_scores import score_lines

            yield from score_lines(self._session.registry.suites, results.results, self._table_width(width))
        yield from self._unused_tag_lines(results)
        if session.settings.volatile or any(kind == "idle" for each in results.results for kind, _ in each.remarks):
            from pytest_fcall.session.ask.volatile import unused_pattern_lines

            models = [named.model for named in session.settings.models]
            yield from map(safe_line, unused_pattern_lines(session.settings.volatile, models, results.results))
        if any(result.variants for result in results.results):
            from pytest_fcall.session.result.fragility import variant_lines

            fully = verbosity(self._config) > 0
            yield from variant_lines(results.results, self._table_width(width), fully=fully)
        accepted = self._session.settings.baseline.accept is not None
        yield from summary_lines(
            results,
            width,
            accepted=accepted,
            differing=self._differing(results, width),
            table_width=self._table_width(width),
        )

    def _unused_tag_lines(self, results: Results) -> Iterator[str]:
        """Lines on tags that were typed in vain. Those of the configuration are for all runs, also of a few cases."""
        if typed := self._config.getoption("fc_score"):
            from pytest_fcall.session.result.scores import unused_tag_lines

            yield from map(
                safe_line, unused_tag_lines((line.rpartition(":")[0].strip() for line in typed), results.results)
            )

    def _table_width(self, width: int) -> int:
        """The width of tables: that of the terminal, and no limit in a file or a pipe."""
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        return width if getattr(reporter, "isatty", False) else NO_END

    def _stray_lines(self) -> Iterator[str]:
        strays = self._workers.strays + Counter(self._session.replies.strays())
        if strays:
            from pytest_fcall.reporting.app_lines import stray_lines

            yield from stray_lines(strays)
        spans = self._workers.span_strays + Counter(self._session.replies.span_strays())
        if spans:
            from pytest_fcall.reporting.app_lines import span_stray_lines

            yield from span_stray_lines(spans)

    def _differing(self, results: Results, width: int) -> list[str]:
        if len(models_of(results.results)) < 2:
            return []
        from pytest_fcall.reporting.terminal import marks_for
        from pytest_fcall.session.result.case_rows import differing_lines

        return differing_lines(results.results, width, marks_for(terminal_encoding()))

    def _verbose_lines(self, results: Results, width: int) -> Iterator[str]:
        from pytest_fcall.reporting.app_lines import volatile_lines
        from pytest_fcall.reporting.tool_confusion import confusion_lines

        yield from (
            f"sent in another form, {count:,} times: {change}" for change, count in self._reported.changes.items()
        )
        if len({result.file for result in results.results}) > 1:
            yield from file_table(results, width)
        yield from confusion_lines(results.results, width)
        yield from volatile_lines(results.results)

    def _gate_lines(self, *, quiet: bool) -> list[str]:
        gates = self._gates
        if gates is None:
            return []
        if self._verdicts is None:
            shard = self._session.settings.shard
            why = "`fcall merge` judges all shards together" if shard else "the run was broken off"
            return [f"gates are not judged: {why}"] if gates.gates else []
        from pytest_fcall.session.result.gates import gate_verdict_lines

        lines = gate_verdict_lines([verdict for verdict in self._verdicts if not (quiet and verdict.held)])
        without_costs = any(verdict.held is None and verdict.gate.figure == "cost" for verdict in self._verdicts)
        missing = [self._session.costs.fault] if quiet and without_costs and self._session.costs.fault else []
        return [*lines, *missing, *gates.notes(self._failures, self._verdicts, self._reported.by_test.values())]

    def _measured(self, gates: Gates | None) -> dict[str, Result]:
        """The results beside everything that was measured of their cases before this run."""
        results = self._reported.by_test
        if not any(result.before for result in results.values()):
            return results
        from pytest_fcall.session.result.model_change import with_history

        session, tested = self._session, gates is not None and gates.test_changes
        found = with_history(tuple(results.values()), session.doubt, session.settings, tested=tested)
        return dict(zip(results, found, strict=True))

    def _store_run(self, *, broken_off: bool, empty: bool) -> None:
        settings = self._session.settings
        self._accounts.close()
        if fault := self._accounts.fault:
            self._run_note = f"what was asked and answered is not kept: {_error_text(fault)}"
        try:
            results = self.results()
            path = store_run(
                settings, self._gates, self._started, results, self._failures, broken_off=broken_off, empty=empty
            )
        except OSError as error:
            self._run_note = f"this run is not kept: {_error_text(error)}"
        else:
            if path and not self._run_note and (settings.shard or verbosity(self._config) > 0):
                self._run_note = f"kept as {path.relative_to(self._config.rootpath).as_posix()}"
            if path and self._reported.by_test and settings.writes_reports:
                from pytest_fcall.plugin.run_reports import write_reports

                self._reports = write_reports(self._config, path, self._session.registry.suites)


def _worse_lines(results: Sequence[Result]) -> list[str]:
    """A line for each model that is worse than before."""
    if not any(result.before for result in results):
        return []
    from pytest_fcall.session.result.model_change import worse_models

    return [worse.line for worse in worse_models(results)]


def _has_scores(results: Results) -> bool:
    return any(result.suite or result.scores for result in results.results)


def _error_text(error: OSError) -> str:
    """The error, with the name of the file where it has one: writing to a full disk has none."""
    return f"{error.strerror}: {error.filename}" if error.filename else str(error.strerror)
