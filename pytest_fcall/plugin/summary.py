"""Results, gathered where reports arrive, and what is said of them at the end."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from pytest_fcall.plugin.accepting import BaselineWriter
from pytest_fcall.plugin.collected import collected
from pytest_fcall.plugin.models import named_models
from pytest_fcall.plugin.sharding import shard_of
from pytest_fcall.reporting.result_json import result_from_json
from pytest_fcall.reporting.results import Result, Results
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.summary import file_table, one_line_summary, summary_lines
from pytest_fcall.reporting.tool_confusion import confusion_lines
from pytest_fcall.session.ask.costs import Costs, total_cost
from pytest_fcall.session.ask.limits import file_of_run
from pytest_fcall.session.ask.replies import replies
from pytest_fcall.session.extensions import registry
from pytest_fcall.session.judge.baselines import baselines
from pytest_fcall.session.result.gates import RunFailures, gate_verdict_lines, gates_of
from pytest_fcall.session.result.run_store import store_run
from pytest_fcall.session.result.suite_scores import score_lines, short_score_lines
from pytest_fcall.tracking.gates import GateVerdict


class Summary:
    """Takes results out of reports, and prints the summary."""

    def __init__(self, config: pytest.Config, failures: int = 0) -> None:
        self._config = config
        self._failures = failures
        """How many reports failed, with those of other tests."""
        self._ending = RunFailures(otherwise=failures > 0)
        self._verdicts: list[GateVerdict] | None = None
        """What became of the gates, once they are judged."""
        self._shard = shard_of(config)
        self._started = time.time()
        self._kept = ""
        """Where the run is kept, or why it is not."""
        self._unanswered: set[str] = set()
        self._results: dict[str, Result] = {}
        self._missing: set[str] = set()
        self._files_without_cases = 0
        self._costs = Costs(config)
        self._accepting = BaselineWriter(config)
        self._runs: set[str] = set()
        self._notes: dict[str, None] = {}
        """What workers have to say, in the order in which they said it."""
        self._figures: dict[str, tuple[int, str]] = {}
        """How fast each model on this machine has answered, as far as workers know."""
        self._reused: list[float] = []
        """When the replies were recorded that were used again, in seconds since 1970."""
        self._changes: Counter[str] = Counter()
        """What was changed on the way out, and for how many cases."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the result; where a test was run again, the last one counts."""
        sent: Mapping[str, Any] | None = getattr(report, "fcall", None)
        if report.failed:
            self._count_failure(sent)
        if report.when == "teardown":
            self._price(report)
        if sent is None or report.outcome == "rerun":  # type: ignore[comparison-overlap]  # of pytest-rerunfailures
            return
        if sent["unanswered"]:
            self._unanswered.add(report.nodeid)
        if "result" not in sent:  # of a plain test
            return
        result = _result(sent)
        stanza = json.loads(sent["stanza"]) if sent["stanza"] else None
        self._results[report.nodeid] = replace(self._priced(result), stanza=stanza)
        self._reused += [sent["recorded"]] if sent["recorded"] else []
        self._changes.update(sent["changes"])
        if sent["missing"]:
            self._missing.add(report.nodeid)

    def _priced(self, result: Result) -> Result:
        judging = result.judging
        if judging:
            judging = replace(judging, cost=self._costs.of(judging.model, judging.usage))
        inside = tuple(replace(each, cost=self._costs.of(each.model, each.usage)) for each in result.inside)
        cost = total_cost([each.cost for each in inside]) if inside else self._costs.of(result.model, result.usage)
        return replace(result, cost=cost, judging=judging, inside=inside)

    def _price(self, report: pytest.TestReport) -> None:
        """Put the cost, which only this process knows, into the properties: JUnit takes them from the last report."""
        result = self._results.get(report.nodeid)
        if result and result.cost is not None:
            report.user_properties.append(("fcall_cost", f"{result.cost:.6f}"))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count what fails beside the cases."""
        if report.failed:
            self._count_failure(None)

    def _count_failure(self, sent: Mapping[str, Any] | None) -> None:
        self._failures += 1
        if sent and sent["unanswered"]:
            self._ending.unanswered = True
        elif sent and sent["judged"]:
            self._ending.verdicts = True
            self._ending.forbidden |= any(kind == "forbidden_call" for kind, _ in _result(sent).reasons)
        else:
            self._ending.otherwise = True

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a worker noticed; each of them collects everything, so the numbers are the same."""
        self._runs.add(node.workerinput["testrunuid"])
        output = getattr(node, "workeroutput", {})
        self._accepting.take_stale(output)
        self._files_without_cases = max(self._files_without_cases, output.get("fcall_files_without_cases", 0))
        self._take_figures(output.get("fcall_figures", {}))
        self._notes.update(dict.fromkeys(output.get("fcall_notes", ())))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        """Tell other plugins, then people."""
        results = self.results()
        config.hook.pytest_fcall_report(config=config, results=results)
        quiet = config.get_verbosity() < 0
        if not quiet:
            terminalreporter.section("tool calls", sep="-")
        for line in self._short_lines(results) if quiet else self._lines(results):
            terminalreporter.line(line)
        for line in (*self._accepting.lines(), *self._gate_lines(quiet)):
            terminalreporter.line(line)

    def _short_lines(self, results: Results) -> Iterator[str]:
        width = self._config.get_terminal_writer().fullwidth
        yield from short_score_lines(registry(self._config).suites, results.results, width)
        yield one_line_summary(results)

    def _lines(self, results: Results) -> Iterator[str]:
        width = self._config.get_terminal_writer().fullwidth
        if self._config.get_verbosity() > 0:
            yield from (f"sent in another form, {count:,} times: {change}" for change, count in self._changes.items())
            if len({result.file for result in results.results}) > 1:
                yield from file_table(results, width)
            yield from confusion_lines(results.results, width)
        self._take_figures(replies(self._config).figures())
        yield from (safe_line(f"{model}: {text}") for model, (_, text) in self._figures.items())
        here = [*replies(self._config).notes(), self._costs.fault, self._kept]
        yield from (safe_line(note) for note in (*self._notes, *here) if note)
        yield from score_lines(registry(self._config).suites, results.results, width)
        yield from summary_lines(results, width, accepted=baselines(self._config).options.accept is not None)

    def _gate_lines(self, quiet: bool) -> list[str]:
        if self._verdicts is None:
            why = "`fcall merge` judges all shares together" if self._shard else "the run was broken off"
            return [f"gates are not judged: {why}"] if gates_of(self._config).gates else []
        told = gate_verdict_lines([verdict for verdict in self._verdicts if not (quiet and verdict.held)])
        return [*told, *gates_of(self._config).beside(self._ending)]

    def _take_figures(self, told: Mapping[str, tuple[int, str]]) -> None:
        """Keep the account that knows of the most requests: it is the last."""
        for model, (count, text) in told.items():
            if count > self._figures.get(model, (0, ""))[0]:
                self._figures[model] = count, text

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Judge the gates, and say by the exit status how the run ended, where it was not broken off."""
        for run in self._runs:
            for file in file_of_run(self._config, run).parent.glob(f"limits-{run}.db*"):
                file.unlink(missing_ok=True)
        self._accepting.finish(session, tuple(self._results.values()))
        self._ending.otherwise |= self._accepting.failed
        self._ending.otherwise |= session.testsfailed > self._failures  # such as too little coverage
        if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self._shard:
            session.exitstatus = pytest.ExitCode.OK  # all there is belongs to others
        ran_to_its_end = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        broken_off = not ran_to_its_end or bool(session.shouldfail)
        gates = gates_of(self._config)
        if not (broken_off or self._shard):
            self._verdicts = gates.judge(tuple(self._results.values()), registry(self._config).suites)
        if ran_to_its_end:
            session.exitstatus = self._ending.status("items" if broken_off else gates.fail, self._verdicts or ())
        self._keep(broken_off)

    def _keep(self, broken_off: bool) -> None:
        try:
            path = store_run(self._config, self._started, self.results(), self._ending, broken_off=broken_off)
        except OSError as error:
            self._kept = f"this run is not kept: {error.strerror}: {error.filename}"
        else:
            if path and (self._shard or self._config.get_verbosity() > 0):
                self._kept = f"kept as {path.relative_to(self._config.rootpath).as_posix()}"

    def results(self) -> Results:
        """Everything that came in, in the order of the cases, in whatever order it came."""
        here = collected(self._config).files_without_cases
        may_ask = any(named.live for named in named_models(self._config))
        return Results(
            tuple(sorted(self._results.values(), key=lambda result: result.place)),
            missing_recordings=len(self._missing),
            files_without_cases=max(here, self._files_without_cases),
            unanswered=len(self._unanswered),
            oldest_reply=time.time() - min(self._reused) if self._reused and may_ask else None,
        )


def _result(sent: Mapping[str, Any]) -> Result:
    """The result in a report, of this process or of another one."""
    result = sent["result"]
    return result if isinstance(result, Result) else result_from_json(result)
