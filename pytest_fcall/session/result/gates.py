"""Gates of a run, the figures that they bound, and the sentences on what they decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, fsum
from typing import get_args

from pytest_fcall.core.message_text import clauses, others_text, plural_text
from pytest_fcall.core.verdict import Outcome
from pytest_fcall.reporting.gates import JudgedGate, figure_text, gate_lines
from pytest_fcall.reporting.number_text import interval_text, p_equation_text
from pytest_fcall.reporting.results import Result
from pytest_fcall.reporting.safe_text import safe_line
from pytest_fcall.reporting.statistics import statistics_of
from pytest_fcall.session.endings import SettingError
from pytest_fcall.session.result.exit_status import FAILED, PASSED, Fail, RunFailures
from pytest_fcall.session.result.model_change import rate_pair
from pytest_fcall.session.result.suite_scores import Suites, combined_score
from pytest_fcall.session.settings import choice
from pytest_fcall.tracking.gate_figures import FIGURES, GroupFigures
from pytest_fcall.tracking.gates import Gate, GateError, GateVerdict, parse_gates
from pytest_fcall.tracking.slices import Slice, SliceKind, SliceTests

_NOT_COMPARED = frozenset({None, Outcome.NEW, Outcome.EDITED})
"""Outcomes of cases that have nothing to be compared with."""


def _group_figures(results: Sequence[Result]) -> GroupFigures:
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
        unjudged_attacks=attacks.unjudged,
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


def _slices_of(results: Iterable[Result], kind: SliceKind) -> list[Slice]:
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


def _results_in_scope(results: Iterable[Result], scope: Sequence[str]) -> list[Result]:
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
        return _group_figures(_faulty_results(gate.scope, results))
    chosen = _results_in_scope(results, gate.scope)
    found = _group_figures(chosen)
    if gate.figure not in FIGURES:  # a suite may give its scores scopes of its own
        return replace(found, scores={gate.figure: combined_score(gate.figure, chosen, suites, gate.scope)})
    found = replace(found, unknown_scope="" if chosen else _unknown_scope(gate.scope, results))
    if gate.kind == "chance":
        return replace(found, tests=SliceTests(float(gate.bound), _slices_of(chosen, gate.by)))
    return found


def _unknown_scope(scope: Sequence[str], results: Sequence[Result]) -> str:
    """The reason why no case is in the scope; empty without a scope, or without any case."""
    if not (scope and results):
        return ""
    known = {name for result in results for name in _scope_names(result) if name}
    unknown = next((name for name in scope if name not in known), None)
    if unknown is None:
        return f"no case is {' and '.join(f'`{name}`' for name in scope)} at once"
    from pytest_fcall.core.message_text import clauses, did_you_mean

    return clauses(f"no case has the tag, category, suite or model `{unknown}`", did_you_mean(unknown, known))


def _faulty_results(scope: Sequence[str], results: Sequence[Result]) -> list[Result]:
    """The results of cases with a fault in this scope, which may name faults and their kinds, too."""
    from pytest_fcall.core.result_fault import fault_names

    named = [(result, fault_names(result.case)) for result in results]
    faulty = [(result, names) for result, names in named if names]
    known = {name for _, names in faulty for name in names}.intersection(scope)
    chosen = [result for result, names in faulty if names >= known]
    return _results_in_scope(chosen, [name for name in scope if name not in known])


def _measured_flips(scope: Sequence[str], results: Sequence[Result]) -> GroupFigures:
    """The figures of a gate on flips, whose scope may name relations, too."""
    from pytest_fcall.session.result.fragility import flips_by_model

    known = {each.relation for result in results if result.variants for each in result.variants.tried}
    relations = known.intersection(scope)
    chosen = _results_in_scope(results, [name for name in scope if name not in relations])
    flips = [each for found in flips_by_model(chosen).values() for each in found]
    counted = tuple(each for each in flips if not relations or each.relation in relations)
    return replace(_group_figures(chosen), flips=counted)


def judged_gates(verdicts: Sequence[GateVerdict]) -> list[JudgedGate]:
    """The verdicts as plain data for people."""
    return [JudgedGate(v.gate.text, v.gate.kind, v.figure, v.gate.bound, v.held, _gate_note(v)) for v in verdicts]


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


_MOST_NAMED = 3
"""At most so many gates, and parts of a run, are named."""


def _gate_note(verdict: GateVerdict) -> str:
    """The note on a verdict; empty where there is nothing to say."""
    return "; ".join(filter(None, _notes(verdict)))


def _notes(verdict: GateVerdict) -> Iterator[str]:
    measured = verdict.measured
    yield verdict.missing_reason
    if verdict.gate.kind == "chance":
        if verdict.held is False:
            yield _listed(_worse_text(*each) for each in measured.tests.worse)
        elif verdict.held:
            yield f"sees {_visible_text(measured.tests)}"
        yield _left_out_text(measured.edited, measured.unmeasured)
    elif verdict.gate.figure == "strength" and measured.strength is not None and measured.unmeasured_strength:
        yield f"{plural_text(measured.unmeasured_strength, 'case')} not measured"
    elif verdict.gate.figure == "recovery" and measured.faulty:
        yield f"{measured.recovered:,} of {measured.faulty:,}, {interval_text(measured.recovered, measured.faulty)}"
    elif verdict.gate.figure == "fragility":
        fragile = [each for each in measured.flips if each.word == "fragile"]
        yield _listed(f"{each.relation} flips {100 * each.rate:.1f} %" for each in fragile)
    elif verdict.gate.figure == "regressions":
        yield _left_out_text(measured.edited, 0)


def _worse_text(slice_: Slice, p_value: float) -> str:
    change = f"{100 * slice_.before:.1f} % → {100 * slice_.now:.1f} % right"
    return f"{slice_.name} {change}, {plural_text(len(slice_.pairs), 'case')}, {p_equation_text(p_value)}"


def _visible_text(tests: SliceTests) -> str:
    found = tests.visible_drops
    if len(found) == 1:
        return _drop_text(*found[0], name="")
    return _listed(_drop_text(each, drop, name=f" of {each.name}") for each, drop in found)


def _drop_text(slice_: Slice, drop: float | None, *, name: str) -> str:
    with_cases = f"with {plural_text(len(slice_.pairs), 'case')}{name}"
    return f"none {with_cases}" if drop is None else f"a drop of {_points_text(drop)} or more {with_cases}"


def _points_text(drop: float) -> str:
    """Never less than the drop: `7.5 points`, `24 points`."""
    tenths = ceil(round(1000 * drop, 6))
    points = f"{ceil(tenths / 10)}" if tenths >= 100 or tenths % 10 == 0 else f"{tenths / 10}"
    return "1 point" if points == "1" else f"{points} points"


def _left_out_text(edited: int, unmeasured: int) -> str:
    """`3 edited cases left out`, or `3 edited cases and 1 without a measurement left out`."""
    parts = [plural_text(edited, "edited case")] if edited else []
    if unmeasured:
        parts.append(f"{f'{unmeasured:,}' if edited else plural_text(unmeasured, 'case')} without a measurement")
    return f"{' and '.join(parts)} left out" if parts else ""


def _listed(texts: Iterable[str]) -> str:
    found = list(texts)
    return clauses(*found[:_MOST_NAMED], others_text(found, _MOST_NAMED))


def decision_text(fail: Fail, failures: RunFailures, verdicts: Sequence[GateVerdict], failed_cases: int) -> str:
    """The sentence on what decided; empty where the run passed, no case failed and every gate holds."""
    excused = [*_failures_of_verdicts(failures, failed_cases)]
    broken = [verdict for verdict in verdicts if verdict.held is False]
    status = failures.exit_status(fail, verdicts)
    if status == FAILED:
        return _failed_text(fail, failures, broken, excused)
    if status == PASSED:
        return _passed_text(verdicts, broken, excused)
    undecided = [verdict for verdict in verdicts if verdict.held is None and fail != "items"]
    reasons = [f"{_named(undecided)} cannot be judged"] if undecided else []
    if failures.unanswered or failures.unrecorded:
        reasons.append("replies are missing, which no gate excuses")
    return f"inconclusive: {'; '.join(reasons)}" if reasons else ""


def _failures_of_verdicts(failures: RunFailures, failed_cases: int) -> Iterator[str]:
    """The failures that gates excuse, unless --fc-fail says otherwise."""
    if failed_cases:
        yield f"{plural_text(failed_cases, 'case')} failed"
    if failures.worse:
        yield "a model is worse than before"


def _failed_text(fail: Fail, failures: RunFailures, broken: Sequence[GateVerdict], of_verdicts: Sequence[str]) -> str:
    reasons = ["a forbidden call was made, which no gate excuses"] if failures.forbidden else []
    if failures.otherwise:
        reasons.append("there is an error, or a plain test failed, which no gate excuses")
    if broken and fail != "items":
        reasons.append(_do_not_hold(broken))
    if of_verdicts and fail == "gates":
        reasons += [f"gates decide in place of single verdicts ({' and '.join(of_verdicts)})"] if broken else []
    elif of_verdicts:
        role = "counts beside the gates" if fail == "both" else "decides in place of the gates"
        reasons.append(f"{' and '.join(of_verdicts)}, which {role} (--fc-fail={fail})")
    return f"failed: {'; '.join(reasons)}"


def _passed_text(verdicts: Sequence[GateVerdict], broken: Sequence[GateVerdict], of_verdicts: Sequence[str]) -> str:
    if broken:
        return f"passed although {_do_not_hold(broken)}: --fc-fail=items leaves the decision to the cases"
    if not of_verdicts:
        return ""
    hold = f"{_named(verdicts)} {'holds' if len(verdicts) == 1 else 'hold'}"
    return (
        f"passed although {' and '.join(of_verdicts)}: gates decide in place of single verdicts, and {hold}; "
        "--fc-fail=both makes failed cases count, too"
    )


def _do_not_hold(verdicts: Sequence[GateVerdict]) -> str:
    return f"{_named(verdicts)} {'does' if len(verdicts) == 1 else 'do'} not hold"


def _named(verdicts: Sequence[GateVerdict]) -> str:
    """The gates, each with its bound and figure."""
    named = [
        f"{safe_line(verdict.gate.text)} ({figure_text(verdict.gate.kind, verdict.figure, verdict.gate.bound)})"
        for verdict in verdicts[:_MOST_NAMED]
    ]
    if (more := len(verdicts) - _MOST_NAMED) > 0:
        named.append(f"{more:,} more")
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
