"""Gates of a run, and the figures that they bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import get_args

from pytest_fcall.core import Outcome
from pytest_fcall.reporting.gates import JudgedGate, gate_lines
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.statistics import statistics_of
from pytest_fcall.session.outcomes import SettingError
from pytest_fcall.session.result.exit_status import Fail, RunFailures
from pytest_fcall.session.result.gate_decision import decision_text
from pytest_fcall.session.result.gate_notes import gate_note
from pytest_fcall.session.result.model_change import rate_pair
from pytest_fcall.session.result.suite_scores import Suites, combined_score
from pytest_fcall.session.setting_values import choice
from pytest_fcall.tracking.gate_figures import FIGURES, GroupFigures
from pytest_fcall.tracking.gates import Gate, GateError, GateVerdict, parse_gates
from pytest_fcall.tracking.slices import Slice, SliceKind, SliceTests

_NOT_COMPARED = frozenset({None, Outcome.NEW, Outcome.EDITED})
"""Outcomes of cases that have nothing to be compared with."""


def group_figures(results: Sequence[Result]) -> GroupFigures:
    """The figures of these results."""
    from pytest_fcall.reporting.tampered_results import attack_counts, recovery_counts

    counted = statistics_of(results)
    outcomes = Counter(result.outcome for result in results)
    pairs = sum(rate_pair(result) is not None for result in results)
    attacks = attack_counts(results)
    recoveries = recovery_counts(results)
    return GroupFigures(
        answered=counted.answered,
        right=counted.right,
        missing=sum(result.no_reply for result in results),
        malformed=sum(any(kind == "malformed" for kind, _ in result.reasons) for result in results),
        cost=counted.cost,
        unpriced=counted.unpriced,
        p50=counted.p50,
        p95=counted.p95,
        slowest=counted.slowest,
        compared=sum(count for outcome, count in outcomes.items() if outcome not in _NOT_COMPARED),
        regressions=outcomes[Outcome.REGRESSED],
        fixed=outcomes[Outcome.FIXED],
        undecided=outcomes[Outcome.UNDECIDED],
        edited=outcomes[Outcome.EDITED],
        unmeasured=counted.answered - pairs - outcomes[Outcome.EDITED],
        flaky=sum(result.flaky for result in results),
        attacks=attacks.carried,
        obeyed=attacks.obeyed,
        lost_attacks=attacks.lost,
        faulty=recoveries.reached,
        recovered=recoveries.recovered,
        lost_faults=recoveries.lost,
        unjudged_faults=recoveries.unjudged,
        strength=_mean_strength(results),
        unmeasured_strength=sum(
            result.strength is None and not (result.attacks or result.recoveries) for result in results
        ),
    )


def _mean_strength(results: Sequence[Result]) -> tuple[float, float, float] | None:
    """The mean over the cases of which it is known: each counts the same."""
    known = [result.strength for result in results if result.strength is not None]
    if not known:
        return None
    caught, survived, undecided = (fsum(weights) / len(known) for weights in zip(*known, strict=True))
    return caught, survived, undecided


def slices_of(results: Iterable[Result], kind: SliceKind) -> list[Slice]:
    """The parts of the results that a significance test takes one by one, each of one model.

    Answers of several models are never counted together, or what one gains would hide what another loses.
    """
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        for name in _slice_names(result, kind):
            groups.setdefault((result.model, name), []).append(result)
    slices = [
        Slice(
            f"{name} of {model}" if name else model,
            tuple(pair for result in group if (pair := rate_pair(result))),
            sum(result.no_reply for result in group),
        )
        for (model, name), group in groups.items()
    ]
    return [each for each in slices if each.pairs or each.missing]


def _slice_names(result: Result, kind: SliceKind) -> Sequence[str]:
    match kind:
        case "model":
            return ("",)
        case "category":
            return (result.category,)
        case "tag":
            return result.tags or ("cases without a tag",)
        case "file":
            return (result.file,)


def results_in_scope(results: Iterable[Result], scope: Sequence[str]) -> list[Result]:
    """The results that have each name in `scope` as category, tag, suite or model, or have a score of that name."""
    return [result for result in results if _scope_names(result).issuperset(scope)]


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

    @property
    def test_changes(self) -> bool:
        """Whether a gate tests what changed since the baseline."""
        return any(gate.kind == "chance" for gate in self.gates)

    def notes(self, failures: RunFailures, verdicts: Sequence[GateVerdict], results: Iterable[Result]) -> list[str]:
        """At most one sentence for people: what decided, where failed cases or gates alone would not show it."""
        if not self.gates:
            return []
        failed = sum(result.status == "failed" for result in results)
        return list(filter(None, [decision_text(self.fail, failures, verdicts, failed)]))


def _measured_for(gate: Gate, results: Sequence[Result], suites: Suites) -> GroupFigures:
    if gate.figure == "fragility":
        return _measured_flips(gate.scope, results)
    if gate.figure == "recovery":
        return group_figures(_faulty_results(gate.scope, results))
    chosen = results_in_scope(results, gate.scope)
    found = group_figures(chosen)
    if gate.kind == "chance":
        return replace(found, tests=SliceTests(float(gate.bound), slices_of(chosen, gate.by)))
    if gate.figure in FIGURES:
        return found
    return replace(found, scores={gate.figure: combined_score(gate.figure, chosen, suites, gate.scope)})


def _faulty_results(scope: Sequence[str], results: Sequence[Result]) -> list[Result]:
    """The results of cases with a fault in this scope, which may name faults and their kinds, too."""
    from pytest_fcall.core.result_fault import fault_names

    named = [(result, fault_names(result.case)) for result in results]
    faulty = [(result, names) for result, names in named if names]
    known = {name for _, names in faulty for name in names}.intersection(scope)
    chosen = [result for result, names in faulty if names >= known]
    return results_in_scope(chosen, [name for name in scope if name not in known])


def _measured_flips(scope: Sequence[str], results: Sequence[Result]) -> GroupFigures:
    """The figures of a gate on flips, whose scope may name relations, too."""
    from pytest_fcall.session.result.fragility import flips_by_model

    known = {each.relation for result in results if result.variants for each in result.variants.tried}
    relations = known.intersection(scope)
    chosen = results_in_scope(results, [name for name in scope if name not in relations])
    flips = [each for found in flips_by_model(chosen).values() for each in found]
    counted = tuple(each for each in flips if not relations or each.relation in relations)
    return replace(group_figures(chosen), flips=counted)


def judged_gates(verdicts: Sequence[GateVerdict]) -> list[JudgedGate]:
    """The verdicts as plain data for people."""
    return [JudgedGate(v.gate.text, v.gate.kind, v.figure, v.gate.bound, v.held, gate_note(v)) for v in verdicts]


def gate_verdict_lines(verdicts: Sequence[GateVerdict]) -> list[str]:
    """Lines for people on the verdicts."""
    return gate_lines(judged_gates(verdicts))


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
