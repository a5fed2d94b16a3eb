"""The report of a run: everything that people look at, as plain data. Nothing is judged here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from pytest_fcall.core.message_text import plural_text
from pytest_fcall.core.reply import Call
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Outcome
from pytest_fcall.reporting.account import Account
from pytest_fcall.reporting.fragility import ModelFlips
from pytest_fcall.reporting.gates import JudgedGate
from pytest_fcall.reporting.results import Result, Results, Status, results_with_outcome
from pytest_fcall.reporting.run_comparison import ModelPair, RunComparison
from pytest_fcall.reporting.statistics import statistics_of


class EarlierResult(NamedTuple):
    """The end of a case of one model in an earlier run."""

    status: Status
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """A run before this one."""

    id: str
    started: str
    results: Mapping[str, EarlierResult]
    """By node id."""


class EarlierAnswer(NamedTuple):
    """The answer to a case in an earlier run."""

    right: bool
    calls: tuple[Call, ...] | None = None
    """None where they are those of this run."""
    was_edited: bool = False
    """Whether the case was edited in between, so that the two are no pair."""


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """An earlier run beside this one, case by case."""

    id: str
    started: str
    comparison: RunComparison
    answers: Mapping[str, EarlierAnswer]
    """By the node ids of this run."""


@dataclass(frozen=True, slots=True)
class Report:
    """A run, what it concludes, what was asked and answered in it, and the runs before it."""

    id: str
    started: str
    """The time in UTC, as ISO 8601."""
    models: Sequence[str]
    results: Results
    status: int
    """The exit status."""
    conclusions: Sequence[str]
    """The reasons for the result of the run, in sentences, without its gates."""
    gates: Sequence[JudgedGate] = ()
    unjudged: str = ""
    """The reason why the gates are not judged."""
    accounts: Mapping[str, Account] = field(default_factory=dict)
    """The accounts of cases, by node id, as far as they are kept."""
    earlier: Sequence[EarlierRun] = ()
    """The runs before, oldest first."""
    models_compared: Sequence[ModelPair] = ()
    """Each model beside each other one."""
    runs_compared: Sequence[ComparedRun] = ()
    """The earlier runs that this one is compared with, the newest first."""
    varied: Sequence[ModelFlips] = ()
    """The rates at which verdicts flip in variants of cases, for each model that has any."""
    offered: Mapping[str, Sequence[Tool]] = field(default_factory=dict)
    """Sets of tools that cases offered, by the names in their accounts."""
    provenance: Mapping[str, Json] = field(default_factory=dict)
    """Versions, revision and settings."""
    data: Mapping[str, Json] = field(default_factory=dict)
    """The run as its file holds it."""

    @property
    def title(self) -> str:
        """The end of the run, in a word."""
        return {0: "passed", 1: "failed", 10: "inconclusive"}.get(self.status, f"exit status {self.status}")

    @property
    def moment(self) -> datetime:
        """The moment when the run started; 1970 where its file does not say."""
        try:
            found = datetime.fromisoformat(self.started)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            return datetime.fromtimestamp(0, UTC)

    @property
    def latest_end(self) -> datetime:
        """The end of the run if one case had followed another: its file does not hold the true end."""
        try:
            return self.moment + timedelta(seconds=sum(result.seconds or 0 for result in self.results.results))
        except OverflowError:
            return self.moment

    @property
    def sentences(self) -> Sequence[str]:
        """The reasons for the result of the run; for a run without a fault, the number of answers judged."""
        if self.conclusions:
            return self.conclusions
        answered = statistics_of(self.results.results).answered
        if not answered:
            return ["No answer was judged."]
        known = f"{plural_text(len(self.known_failures), 'known failure')}." if self.known_failures else ""
        return [f"{plural_text(answered, 'answer')} judged, nothing is worse.", *filter(None, [known])]

    @property
    def gates_by_weight(self) -> list[JudgedGate]:
        """The gates, first those that do not hold, last those that do."""
        return sorted(self.gates, key=lambda gate: {False: 0, None: 1, True: 2}[gate.held])

    def with_outcome(self, outcome: Outcome) -> list[Result]:
        """The results with this outcome."""
        return results_with_outcome(self.results.results, outcome)

    @property
    def other_failures(self) -> list[Result]:
        """The failures that neither regressed nor may have."""
        return other_failures(self.results.results)

    @property
    def known_failures(self) -> list[Result]:
        """The wrong answers that a baseline or a mark expects; those that are flaky are not among them."""
        return [
            result
            for result in self.results.results
            if result.status == "xfailed" and result.outcome is not Outcome.FLAKY
        ]

    def why(self, result: Result) -> str:
        """The change of a result, or else the first reason in words, as far as it is kept."""
        if result.since:
            return "; ".join(result.since)
        account = self.accounts.get(result.nodeid)
        if account and account.error:
            return _raised(account.error)
        wrong = next((answer for answer in account.answers if answer.reasons), None) if account else None
        if wrong:
            return wrong.reasons[0][2]
        return next(iter(result.reason_texts), "")

    def named(self, result: Result) -> str:
        """The case of a result, with its model where the run has several."""
        return f"{result.case} ({result.model})" if len(self.models) > 1 and result.model else result.case


def _raised(error: str) -> str:
    """The exception of an error that is shown with its source code, where `E` marks it; else the first line."""
    lines = error.splitlines() or [""]
    return next((line[1:].strip() for line in lines if line.startswith("E  ")), lines[0])


def other_failures(results: Sequence[Result]) -> list[Result]:
    """The results that failed, and neither regressed nor may have."""
    counted = (Outcome.REGRESSED, Outcome.UNDECIDED)
    return [result for result in results if result.status == "failed" and result.outcome not in counted]
