"""What reports of tests bring of results and remarks, and what workers tell, until the summary makes lines of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from pytest_fcall.core.message_text import list_text, plural_text
from pytest_fcall.core.reply import Usage
from pytest_fcall.plugin.report import CaseReport
from pytest_fcall.plugin.session import session_of
from pytest_fcall.reporting.results import MissingReply, Result, Results
from pytest_fcall.reporting.safe_text import whole_line
from pytest_fcall.session.ask.costs import total_cost


class ReportedResults:
    """Results of cases, and remarks on plain tests; where a test was run again, the last one counts.

    Not so where an attempt before made a forbidden call: it is never excused, so the first such attempt counts.

    Costs are added here, as only the process that prints the summary knows the prices.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.by_test: dict[str, Result] = {}
        """The results by the node ids of their tests."""
        self.remarks: dict[str, str] = {}
        """Remarks on plain tests, by their node ids."""
        self.changes: Counter[str] = Counter()
        """Changes of requests on their way out, with the number of cases."""
        self.texts: dict[str, list[str]] = {}
        """Texts that models wrote for variants, by the file of the case."""
        self.dropped = 0
        """The answers that do not count, since their tests were run again."""
        self._missing: dict[str, MissingReply] = {}
        self._unanswered: set[str] = set()
        self._forbidden: dict[str, CaseReport] = {}
        """The attempts with a forbidden call that were run again, by the node ids of their tests."""
        self._reused: dict[str, Sequence[float]] = {}
        """The times of the oldest and the newest recording that a case used."""

    @property
    def lacks_replies(self) -> bool:
        """Whether a test could not be judged because no recorded reply fits."""
        return bool(self._missing)

    def keep(self, nodeid: str, attached: CaseReport) -> None:
        """Keep what the report of a test has."""
        attached = self._forbidden.get(nodeid, attached)
        self._unanswered.discard(nodeid)
        if attached.unanswered:
            self._unanswered.add(nodeid)
        self._missing.pop(nodeid, None)
        if attached.missing:
            self._missing[nodeid] = attached.missing
        if attached.result is None:  # of a plain test
            self.remarks[nodeid] = attached.remark
            return
        self.by_test[nodeid] = self._priced(attached.result)
        if attached.reused:
            self._reused[nodeid] = attached.reused
        else:
            self._reused.pop(nodeid, None)
        self.changes.update(attached.changes)
        if attached.texts:
            self.texts.setdefault(attached.result.file, []).extend(attached.texts)

    def keep_forbidden(self, nodeid: str, attached: CaseReport) -> None:
        """Keep an attempt with a forbidden call although its test is run again: no later answer excuses it."""
        self._forbidden.setdefault(nodeid, attached)
        self.keep(nodeid, attached)

    def attempt_lines(self) -> Iterator[str]:
        """Lines on what was found in attempts that were run again: forbidden calls, and answers that do not count."""
        if self._forbidden:
            cases = [attached.result.case for attached in self._forbidden.values() if attached.result]
            yield f"a forbidden call was made, which running again does not excuse: {whole_line(list_text(cases))}"
        if self.dropped:
            yield f"not counted: {plural_text(self.dropped, 'answer')} of cases that were run again; leave out --reruns"

    def together(self, *, files_without_cases: int, stale: tuple[tuple[str, str], ...]) -> Results:
        """All results, in the order of the cases, in whatever order they came."""
        moments = {moment for reused in self._reused.values() for moment in reused}
        settings = session_of(self._config).settings
        known, started = moments - {0.0}, settings.started
        return Results(
            tuple(sorted(self.by_test.values(), key=lambda result: result.place)),
            missing=Counter(self._missing.values()),
            missing_excused=settings.missing == "skip",
            files_without_cases=files_without_cases,
            unanswered=len(self._unanswered),
            not_asked=sum(
                result.status == "skipped" for nodeid, result in self.by_test.items() if nodeid in self._unanswered
            ),
            oldest_reply=max(started - min(known), 0) if known else None,
            newest_reply=max(started - max(known), 0) if known else None,
            undated_replies=moments > known,
            stale=stale,
        )

    def _priced(self, result: Result) -> Result:
        costs = session_of(self._config).costs
        if result.unpriced and costs.of(result.model, Usage(1, 1)) == 0:
            result = result._replace(unpriced=0)
        if result.variants:
            varied = result.variants._replace(cost=costs.of(result.model, result.variants.usage))
            result = result._replace(variants=varied)
        judging, inside = result.judging, result.inside
        if judging is None and not inside:
            return result if result.usage is None else result._replace(cost=costs.of(result.model, result.usage))
        if judging:
            judging = judging._replace(cost=costs.of(judging.model, judging.usage))
        inside = tuple(each._replace(cost=costs.of(each.model, each.usage)) for each in inside)
        cost = total_cost([each.cost for each in inside]) if inside else costs.of(result.model, result.usage)
        return result._replace(cost=cost, judging=judging, inside=inside)


class WorkerFindings:
    """What workers noticed beside their results."""

    def __init__(self) -> None:
        self.runs: set[str] = set()
        self.notes: dict[str, None] = {}
        self.strays: Counter[tuple[str, bool]] = Counter()
        self.span_strays: Counter[tuple[str, str]] = Counter()
        self.files_without_cases = 0
        self.left_to_others = 0
        self._throughputs: dict[str, tuple[int, str]] = {}

    def add(self, run: str, output: Mapping[str, Any]) -> None:
        """Take what a worker of this run has put into its output. Each collects everything: files are not summed up."""
        self.runs.add(run)
        self.files_without_cases = max(self.files_without_cases, output.get("fcall_files_without_cases", 0))
        self.left_to_others = max(self.left_to_others, output.get("fcall_left_to_others", 0))
        self.add_throughputs(output.get("fcall_figures", {}))
        self.notes.update(dict.fromkeys(output.get("fcall_notes", ())))
        for case, answered, count in output.get("fcall_strays", ()):
            self.strays[case, answered] += count
        for case, service, count in output.get("fcall_span_strays", ()):
            self.span_strays[case, service] += count

    def add_throughputs(self, throughputs: Mapping[str, tuple[int, str]]) -> None:
        """Keep, of each model, the speed that was measured on the most requests, by any worker or here: the latest."""
        for model, (count, text) in throughputs.items():
            if count > self._throughputs.get(model, (0, ""))[0]:
                self._throughputs[model] = count, text

    def throughput_lines(self) -> list[str]:
        """A line for each model: its speed on this machine."""
        return [f"{model}: {text}" for model, (_, text) in self._throughputs.items()]
