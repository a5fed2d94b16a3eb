"""Gates of a run, what they measure, and the exit status."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, TypeAlias, cast, get_args

import pytest

from pytest_fcall.core import Outcome
from pytest_fcall.reporting.gates import JudgedGate, gate_lines
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.statistics import statistics_of
from pytest_fcall.session.result.suite_scores import Suites, combined_score, score_names
from pytest_fcall.tracking.gate_figures import FIGURES, GroupFigures
from pytest_fcall.tracking.gates import Gate, GateError, GateVerdict, parse_gates
from pytest_fcall.tracking.significance import Rate, RatePair

Fail: TypeAlias = Literal["items", "gates", "both"]

PASSED, FAILED, INCONCLUSIVE = 0, 1, 10


@dataclass(slots=True)
class RunFailures:
    """What decides beside the gates."""

    verdicts: bool = False
    """Whether a verdict failed its case."""
    forbidden: bool = False
    """Whether one of them found a forbidden call, which no gate excuses."""
    otherwise: bool = False
    """Whether anything else failed that more replies could not have changed."""
    unanswered: bool = False
    """Whether a case or test is in error for want of a reply."""

    def status(self, fail: Fail, gates: Iterable[GateVerdict]) -> int:
        """The exit status, where `fail` says whether failed cases, gates or both make a run fail."""
        held = {verdict.held for verdict in gates} if fail != "items" else set()
        if self.otherwise or self.forbidden or False in held or (self.verdicts and fail != "gates"):
            return FAILED
        return INCONCLUSIVE if self.unanswered or None in held else PASSED


_RIGHT, _WRONG = Rate(1, 1), Rate(0, 1)

_PAIRS: Mapping[Outcome | None, RatePair] = MappingProxyType(
    {
        Outcome.OK: RatePair(_RIGHT, _RIGHT),
        Outcome.DRIFTED: RatePair(_RIGHT, _RIGHT),
        Outcome.REGRESSED: RatePair(_RIGHT, _WRONG),
        Outcome.FIXED: RatePair(_WRONG, _RIGHT),
        Outcome.KNOWN_FAILURE: RatePair(_WRONG, _WRONG),
    }
)
"""What each outcome says of before and now; a case that has no accepted answer has no before."""


def measured(results: Iterable[Result], scope: Sequence[str] = ()) -> GroupFigures:
    """Measure the results that have each name in `scope`."""
    chosen = within(results, scope)
    counted = statistics_of(chosen)
    return GroupFigures(
        answered=counted.answered,
        right=counted.right,
        missing=sum(result.no_reply for result in chosen),
        malformed=sum(any(kind == "malformed" for kind, _ in result.reasons) for result in chosen),
        cost=counted.cost,
        unpriced=counted.unpriced,
        p50=counted.p50,
        p95=counted.p95,
        slowest=counted.slowest,
        regressions=sum(result.outcome is Outcome.REGRESSED for result in chosen),
        fixed=sum(result.outcome is Outcome.FIXED for result in chosen),
        flaky=sum(result.flaky for result in chosen),
        pairs=tuple(pair for result in chosen if (pair := _pair(result))),
    )


def within(results: Iterable[Result], scope: Sequence[str]) -> list[Result]:
    """Those that have each name in `scope` as category, tag, suite or model, or have a score under that name."""
    return [result for result in results if _scope_names(result).issuperset(scope)]


def _pair(result: Result) -> RatePair | None:
    """Before and now, as rates where a case was asked several times; None where there is no before."""
    known = _PAIRS.get(result.outcome)
    if known is None or result.before is None or not (result.samples or result.before[1] > 1):
        return known
    return RatePair(Rate(*result.before), Rate(*result.samples) if result.samples else known.now)


def _scope_names(result: Result) -> set[str]:
    return {result.category, result.model, result.suite, *result.tags, *(each.tag for each in result.scores)}


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates of a run."""

    gates: tuple[Gate, ...] = ()
    fail: Fail = "items"

    def judge(self, results: Sequence[Result], suites: Suites) -> list[GateVerdict]:
        """Judge each by its part of the results; `suites` work out their scores."""
        return [gate.judge(_measured_for(gate, results, suites)) for gate in self.gates]

    def beside(self, ending: RunFailures) -> list[str]:
        """What people must know where gates decide and yet are not all that counts."""
        if self.fail != "gates" or not ending.forbidden:
            return []
        return ["a forbidden call was made, which no gate excuses"]


def _measured_for(gate: Gate, results: Sequence[Result], suites: Suites) -> GroupFigures:
    found = measured(results, gate.scope)
    if gate.figure in FIGURES:
        return found
    told = combined_score(gate.figure, within(results, gate.scope), suites, gate.scope)
    return replace(found, scores={gate.figure: told})


def gate_verdict_lines(verdicts: Sequence[GateVerdict]) -> list[str]:
    """What people read of the verdicts."""
    return gate_lines(
        [JudgedGate(v.gate.text, v.gate.kind, v.figure, v.gate.bound, v.held, v.missing_reason) for v in verdicts]
    )


GATES = pytest.StashKey[Gates]()


def gates_of(config: pytest.Config) -> Gates:
    """The gates of the command line and of the configuration. Raises UsageError for one that cannot be read."""
    if GATES not in config.stash:
        config.stash[GATES] = _read_gates(config)
    return config.stash[GATES]


def _read_gates(config: pytest.Config) -> Gates:
    written: list[tuple[str, str]] = [("fc_gates", text) for text in config.getini("fc_gates")]
    typed: list[tuple[str, str]] = [("--fc-gate", text) for text in config.getoption("fc_gate")]
    gates = tuple(gate for where, text in (*written, *typed) for gate in _parsed(config, where, text))
    fail = config.getoption("fc_fail") or str(config.getini("fc_fail") or "") or ("gates" if gates else "items")
    if fail not in get_args(Fail):
        raise pytest.UsageError(f"fc_fail: {fail!r} is none of {', '.join(get_args(Fail))}")
    if fail != "items" and not gates:
        raise pytest.UsageError(f"--fc-fail={fail} wants gates, and there is none: add --fc-gate or fc_gates")
    return Gates(gates, cast("Fail", fail))


def _parsed(config: pytest.Config, where: str, text: str) -> tuple[Gate, ...]:
    def names() -> Iterator[str]:
        from pytest_fcall.session.extensions import known_suites

        return score_names(known_suites(config))

    try:
        return parse_gates(text, names)
    except GateError as error:
        raise pytest.UsageError(f"{where}: {error}") from None
