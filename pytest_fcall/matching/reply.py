"""A reply against everything that one turn of a case expects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_fcall.core.case import Turn
from pytest_fcall.core.expectation import Expectation, Rules
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.request import Tool
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.matching.call_comparison import CallComparison, wire_effects_of
from pytest_fcall.matching.calls import CallFindings, judge_calls
from pytest_fcall.matching.values import compare_outside_calls
from pytest_fcall.schema.value_text import path_text

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator


def broken_reply_reasons(reply: Reply, calls: Calls) -> list[Reason]:
    """Say why the reply is not a whole answer; nothing where it is one."""
    found: list[Reason] = []
    if calls.malformed is not None:
        found.append(Reason("malformed", "reply", calls.malformed))
    if reply.finish == "length":
        message = "The reply was cut off at the length limit (`max_tokens`), so that it is not whole."
        found.append(Reason("truncated", "reply", message, got=reply.finish))
    if reply.refusal is not None or reply.finish == "refusal":
        words = f": {reply.refusal[:200]!r}" if reply.refusal else "."
        found.append(Reason("refused", "reply", f"The model refused to answer{words}", got=reply.refusal))
    elif reply.finish == "content_filter":
        message = "The provider's content filter stopped the reply."
        found.append(Reason("refused", "reply", message, got=reply.finish))
    return found


def empty_reply_reasons(reply: Reply, calls: Calls) -> list[Reason]:
    """Say that a reply without calls says nothing at all, which is no clean abstention."""
    if calls.calls or reply.text.strip():
        return []
    return [Reason("malformed", "reply", "The reply is empty: it holds neither text nor a call.", got=reply.text)]


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
    comparison = CallComparison(calls.calls, tools, rules, comparators, wire_effects_of(reply))
    verdict = _judge_expectation(reply, calls, expectation, comparison)
    notes = (*calls.notes, *dict.fromkeys(comparison.notes))
    return replace(verdict, notes=notes) if notes else verdict


def _judge_expectation(reply: Reply, calls: Calls, expectation: Expectation, comparison: CallComparison) -> Verdict:
    if expectation.kind == "any_of":
        inside = (alternative_within(alternative, expectation) for alternative in expectation.alternatives)
        return _nearest_alternative(
            [_judge_expectation(reply, calls, alternative, comparison) for alternative in inside]
        )
    called = judge_calls(expectation, comparison)
    broken = broken_reply_reasons(reply, calls)
    # What is missing may have stood in the part that is cut off or cannot be read.
    missing = [] if broken else _missing(called, empty_reply_reasons(reply, calls))
    reasons = (*broken, *called.wrong, *missing)
    return Verdict(not reasons, reasons, called.pairs)


def _missing(called: CallFindings, empty: Sequence[Reason]) -> Sequence[Reason]:
    if empty and called.missing:
        return [replace(reason, message=f"{reason.message}; the reply is empty") for reason in called.missing]
    return called.missing or empty


def alternative_within(alternative: Expectation, whole: Expectation) -> Expectation:
    """Give an alternative what stands beside `any_of`: it holds whichever is taken."""
    return replace(
        alternative,
        never=alternative.never + whole.never,
        allow=alternative.allow + whole.allow,
        extra="allow" if "allow" in (alternative.extra, whole.extra) else "forbid",
    )


def _nearest_alternative(verdicts: Sequence[Verdict]) -> Verdict:
    """Take the first alternative that holds, or the one that leaves least to explain, in whatever order they stand."""
    number, verdict = min(enumerate(verdicts), key=lambda numbered: _verdict_distance(numbered[1]))
    return replace(verdict, alternative=number)


def _verdict_distance(verdict: Verdict) -> tuple[int, list[str], list[tuple[str, str]]]:
    weight = sum(1 if reason.kind in _WITHIN_A_CALL else 1_000 for reason in verdict.reasons)
    # Kinds before paths: what is told should not depend on the order of the calls.
    kinds: list[str] = sorted(reason.kind for reason in verdict.reasons)
    return weight, kinds, [(reason.path, reason.message) for reason in verdict.reasons]


def judge_turn(
    reply: Reply,
    calls: Calls,
    turn: Turn,
    tools: Sequence[Tool],
    rules: Rules,
    comparators: Mapping[str, Comparator],
) -> Verdict:
    """Judge the calls, where the turn expects any, and the text that answers. What is not expected is free."""
    if turn.expect is not None:
        verdict = judge(reply, calls, turn.expect, tools, rules, comparators)
    else:
        broken = tuple(broken_reply_reasons(reply, calls))
        verdict = Verdict(not broken, broken, notes=calls.notes)
    if turn.answer is None:
        return verdict
    found = compare_outside_calls(turn.answer, reply.text, ("answer",), rules, comparators)
    wrong = tuple(Reason("wrong_answer", path_text(each.keys), each.tell(), each.expected, each.got) for each in found)
    return replace(verdict, valid=verdict.valid and not wrong, reasons=verdict.reasons + wrong)
