"""Gates of a run, and the figures that they bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import get_args

from pytest_fcall.core import Outcome
from pytest_fcall.core.rate import Rate
from pytest_fcall.reporting.gates import JudgedGate, gate_lines
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.statistics import statistics_of
from pytest_fcall.session.outcomes import SettingError
from pytest_fcall.session.result.exit_status import Fail, RunFailures
from pytest_fcall.session.result.suite_scores import Suites, combined_score
from pytest_fcall.session.setting_values import choice
from pytest_fcall.tracking.gate_figures import FIGURES, GroupFigures
from pytest_fcall.tracking.gates import Gate, GateError, GateVerdict, parse_gates
from pytest_fcall.tracking.significance import RatePair

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
"""The rates of right answers before and now, by outcome; a case without an accepted answer has none before."""


def group_figures(results: Iterable[Result], scope: Sequence[str] = ()) -> GroupFigures:
    """The figures of the results that have each name in `scope`."""
    chosen = results_in_scope(results, scope)
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


def results_in_scope(results: Iterable[Result], scope: Sequence[str]) -> list[Result]:
    """The results that have each name in `scope` as category, tag, suite or model, or have a score of that name."""
    return [result for result in results if _scope_names(result).issuperset(scope)]


def _pair(result: Result) -> RatePair | None:
    """The rates before and now; None where there is none before."""
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
        """The verdict on each gate by its part of the results; `suites` compute their scores."""
        return [gate.judge(_measured_for(gate, results, suites)) for gate in self.gates]

    def notes(self, failures: RunFailures) -> list[str]:
        """Sentences for people where gates decide, but something else failed the run."""
        if self.fail != "gates" or not failures.forbidden:
            return []
        return ["a forbidden call was made, which no gate excuses"]


def _measured_for(gate: Gate, results: Sequence[Result], suites: Suites) -> GroupFigures:
    found = group_figures(results, gate.scope)
    if gate.figure in FIGURES:
        return found
    score = combined_score(gate.figure, results_in_scope(results, gate.scope), suites, gate.scope)
    return replace(found, scores={gate.figure: score})


def gate_verdict_lines(verdicts: Sequence[GateVerdict]) -> list[str]:
    """Lines for people on the verdicts."""
    return gate_lines(
        [JudgedGate(v.gate.text, v.gate.kind, v.figure, v.gate.bound, v.held, v.missing_reason) for v in verdicts]
    )


def read_gates(written: Iterable[tuple[str, str]], fail: str, score_names: Callable[[], Iterable[str]]) -> Gates:
    """Parse gates; each comes with the option or setting that holds it. Raises SettingError.

    `fail` may be empty: gates decide where there are any, and else the cases do.
    """
    gates = tuple(gate for where, text in written for gate in _parsed(where, text, score_names))
    chosen: Fail = choice("fc_fail", fail or ("gates" if gates else "items"), get_args(Fail))
    if chosen != "items" and not gates:
        raise SettingError(f"--fc-fail={chosen} needs gates, and there are none: add --fc-gate or fc_gates")
    return Gates(gates, chosen)


def _parsed(where: str, text: str, score_names: Callable[[], Iterable[str]]) -> tuple[Gate, ...]:
    try:
        return parse_gates(text, score_names)
    except GateError as error:
        raise SettingError(f"{where}: {error}") from None
