"""A reply against an expectation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_fcall.core.call import Calls
from pytest_fcall.core.expectation import Expectation
from pytest_fcall.core.reply import Reply
from pytest_fcall.core.rules import Rules
from pytest_fcall.core.tool import Tool
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.matching.called import Called, judge_calls
from pytest_fcall.matching.comparison import Comparison
from pytest_fcall.matching.relevance import broken_reply, empty_reply
from pytest_fcall.matching.wire import wire_of

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator

_WITHIN_A_CALL: frozenset[ReasonKind] = frozenset(
    {"missing_argument", "unexpected_argument", "wrong_type", "wrong_value", "schema", "wrong_order"}
)
_NO_COMPARATORS: Mapping[str, Comparator] = MappingProxyType({})


def judge(
    reply: Reply,
    calls: Calls,
    expectation: Expectation,
    tools: Sequence[Tool],
    rules: Rules = Rules(),  # noqa: B008  frozen
    comparators: Mapping[str, Comparator] = _NO_COMPARATORS,
) -> Verdict:
    """Judge a reply, whose calls are decoded, by what a case expects.

    Pure and total: whatever a model says gives a verdict, with every reason that there is.
    """
    if rules.profile == "bfcl":
        from pytest_fcall.matching.bfcl.verdict import judge_bfcl

        verdict = judge_bfcl(calls, expectation, tools, rules)
        return replace(verdict, notes=calls.notes)
    comparison = Comparison(calls.calls, tools, rules, comparators, wire_of(reply))
    verdict = _judge(reply, calls, expectation, comparison)
    notes = (*calls.notes, *dict.fromkeys(comparison.notes))
    return replace(verdict, notes=notes) if notes else verdict


def _judge(reply: Reply, calls: Calls, expectation: Expectation, comparison: Comparison) -> Verdict:
    if expectation.kind == "any_of":
        inside = (inherits(alternative, expectation) for alternative in expectation.alternatives)
        return _nearest([_judge(reply, calls, alternative, comparison) for alternative in inside])
    called = judge_calls(expectation, comparison)
    broken = broken_reply(reply, calls)
    # What is missing may have stood in the part that is cut off or cannot be read.
    missing = [] if broken else _missing(called, empty_reply(reply, calls))
    reasons = (*broken, *called.wrong, *missing)
    return Verdict(not reasons, reasons, called.pairs)


def _missing(called: Called, empty: Sequence[Reason]) -> Sequence[Reason]:
    if empty and called.missing:
        return [replace(reason, message=f"{reason.message}; the reply is empty") for reason in called.missing]
    return called.missing or empty


def inherits(alternative: Expectation, whole: Expectation) -> Expectation:
    """Give an alternative what stands beside `any_of`: it holds whichever is taken."""
    return replace(
        alternative,
        never=alternative.never + whole.never,
        allow=alternative.allow + whole.allow,
        extra="allow" if "allow" in (alternative.extra, whole.extra) else "forbid",
    )


def _nearest(verdicts: Sequence[Verdict]) -> Verdict:
    """Take the first alternative that holds, or the one that leaves least to explain, in whatever order they stand."""
    number, verdict = min(enumerate(verdicts), key=lambda numbered: _distance(numbered[1]))
    return replace(verdict, alternative=number)


def _distance(verdict: Verdict) -> tuple[int, list[str], list[tuple[str, str]]]:
    weight = sum(1 if reason.kind in _WITHIN_A_CALL else 1_000 for reason in verdict.reasons)
    # Kinds before paths: what is told should not depend on the order of the calls.
    kinds: list[str] = sorted(reason.kind for reason in verdict.reasons)
    return weight, kinds, [(reason.path, reason.message) for reason in verdict.reasons]
