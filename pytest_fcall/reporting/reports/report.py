"""The report of a run: everything that people look at, as plain data. Nothing is judged here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pytest_fcall.core import Json, Outcome
from pytest_fcall.reporting.account import Account
from pytest_fcall.reporting.gates import JudgedGate
from pytest_fcall.reporting.results import Result, Results, Status


class EarlierResult(NamedTuple):
    """How a case of one model ended in an earlier run."""

    status: Status
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """A run before this one."""

    id: str
    started: str
    results: Mapping[str, EarlierResult]
    """By node id."""


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
    """Why the run ends so, in sentences, without its gates."""
    gates: Sequence[JudgedGate] = ()
    unjudged: str = ""
    """Why the gates are not judged."""
    accounts: Mapping[str, Account] = field(default_factory=dict)
    """What was asked and answered, by node id, as far as it is kept."""
    earlier: Sequence[EarlierRun] = ()
    """The runs before, oldest first."""
    provenance: Mapping[str, Json] = field(default_factory=dict)
    """Versions, revision and settings."""
    data: Mapping[str, Json] = field(default_factory=dict)
    """The run as its file holds it."""

    @property
    def title(self) -> str:
        """How the run ended, in a word."""
        return {0: "passed", 1: "failed", 10: "inconclusive"}.get(self.status, f"exit status {self.status}")

    def with_outcome(self, outcome: Outcome) -> list[Result]:
        """The results with this outcome."""
        return [result for result in self.results.results if result.outcome is outcome]
