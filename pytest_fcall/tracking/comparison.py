"""The outcome of a verdict, compared with the baseline: ok, new, fixed, drifted, regressed or known failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

from pytest_fcall.core import Call, Case, Outcome, Verdict
from pytest_fcall.tracking.constrained_arguments import constrained_calls
from pytest_fcall.tracking.differences import call_differences, same_calls
from pytest_fcall.tracking.samples import is_worse
from pytest_fcall.tracking.stanza import Stanza

StanzaJudge: TypeAlias = Callable[[Stanza], Verdict]
"""Judges the stored calls by the case as it is today."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome, and the stanza of the baseline."""

    outcome: Outcome
    baseline: Stanza | None = None
    drift: tuple[str, ...] = ()
    """The differences between right calls, a line each."""
    edited: bool = False
    """Whether the case changed since its calls were accepted as right, so that this may be why they fail."""


@dataclass(frozen=True, slots=True)
class _JudgedAgain:
    """A stanza, judged by the case as it is today."""

    valid: bool
    reasons: tuple[tuple[str, str], ...]
    verdict: Verdict | None = None


def compare_verdict(
    now: Stanza, verdict: Verdict, baseline: Stanza | None, case: Case, judge: StanzaJudge
) -> Comparison:
    """Compare a verdict with the accepted stanza of the case; `now` is the stanza of the verdict.

    The stored calls are judged by today's case first, so that an edited expectation is not mistaken for a changed
    model. A failure is excused only if one with the same reasons was accepted; a forbidden call never is. Where a case
    is asked several times, it regressed if significantly fewer answers are right than before.
    """
    if baseline is None:
        return Comparison(Outcome.NEW)
    same = case.wire is None and _same_answer(now, baseline)
    before = _judge_again(now, verdict, baseline, judge, same)
    if now.valid:
        return _compare_right_answer(now, verdict, baseline, before, case)
    if before.valid:
        edited = _asks_for_more(now, baseline, case)
        return Comparison(Outcome.NEW if edited else Outcome.REGRESSED, baseline, edited=edited)
    if not baseline.valid and is_worse(baseline.rate, now.rate):
        return Comparison(Outcome.REGRESSED, baseline)
    if _is_known(now, baseline, before) and not now.has_forbidden_call:
        return Comparison(Outcome.KNOWN_FAILURE, baseline)
    return Comparison(Outcome.NEW, baseline, edited=baseline.valid)


def _is_known(now: Stanza, baseline: Stanza, before: _JudgedAgain) -> bool:
    """Whether the failure is the accepted one. Several answers may be wrong in different ways."""
    if baseline.valid:
        return False
    if now.samples is None and baseline.samples is None:
        return sorted(before.reasons) == sorted(now.reasons)
    return {*now.reasons} <= {*before.reasons, *baseline.reasons}


def _asks_for_more(now: Stanza, baseline: Stanza, case: Case) -> bool:
    """Whether all reasons are about parts that the baseline did not store: the answer's text, or the wire."""
    answer_unknown = baseline.answer is None and case.turns[-1].answer is not None
    wire_unknown = baseline.wire is None and case.wire is not None
    return all(
        (answer_unknown and kind == "wrong_answer") or (wire_unknown and path.startswith("wire."))
        for kind, path in now.reasons
    )


def reason_pairs(verdict: Verdict) -> tuple[tuple[str, str], ...]:
    """The kind and path of each reason, by which reasons are compared."""
    return tuple((reason.kind, reason.path) for reason in verdict.reasons)


def _same_answer(now: Stanza, baseline: Stanza) -> bool:
    if now.calls is None or baseline.calls is None:
        return False
    return now.answer == baseline.answer and same_calls(baseline.calls, now.calls)


def _judge_again(now: Stanza, verdict: Verdict, baseline: Stanza, judge: StanzaJudge, same: bool) -> _JudgedAgain:
    if same:
        return _JudgedAgain(now.valid, now.reasons, verdict)
    if baseline.calls is None:  # the reply could not be read: there are no calls to judge
        return _JudgedAgain(baseline.valid, baseline.reasons)
    again = judge(baseline)
    return _JudgedAgain(again.valid, reason_pairs(again), again)


def _compare_right_answer(
    now: Stanza, verdict: Verdict, baseline: Stanza, before: _JudgedAgain, case: Case
) -> Comparison:
    if not before.valid:
        return Comparison(Outcome.FIXED, baseline)
    drift = _drift(now, verdict, baseline, before.verdict, case)
    return Comparison(Outcome.DRIFTED if drift else Outcome.OK, baseline, drift)


def _drift(now: Stanza, verdict: Verdict, baseline: Stanza, before: Verdict | None, case: Case) -> tuple[str, ...]:
    """The differences in what the expectation constrains; none where another alternative was chosen."""
    if before is None or before is verdict:
        return ()
    old, new = ([*_turns_of(side, stanza)] for side, stanza in ((before, baseline), (verdict, now)))
    if [each.alternative for each, _ in old] != [each.alternative for each, _ in new]:
        return ()
    sides: tuple[list[Call], list[Call]] = ([], [])
    for turn, *both in zip(case.turns, old, new, strict=False):
        constrained = [constrained_calls(turn.expect, each, calls, case.rules) for each, calls in both]
        for place in dict.fromkeys((*constrained[1], *constrained[0])):
            for side, calls in zip(sides, constrained, strict=True):
                side.extend(calls.get(place, ()))
    return tuple(call_differences(*sides))


def _turns_of(verdict: Verdict, stanza: Stanza) -> Iterator[tuple[Verdict, Sequence[Call]]]:
    """The verdict on each turn, and the calls of the turn."""
    if not verdict.turns:
        yield verdict, stanza.calls or ()
        return
    calls = iter(stanza.calls or ())
    for turn, counts in zip(verdict.turns, stanza.steps or (), strict=False):
        yield turn, tuple(islice(calls, sum(counts)))
