"""A reply, judged by everything that one turn of a case expects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_fcall.core.case import Turn
from pytest_fcall.core.expectation import CallPattern, Expectation
from pytest_fcall.core.message_text import nearest
from pytest_fcall.core.reply import Calls, Reply
from pytest_fcall.core.verdict import Reason, ReasonKind, Verdict
from pytest_fcall.matching.call_comparison import CallComparison, CallFindings, wire_effects_of
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.values import judge_value

_INSIDE_A_CALL: frozenset[ReasonKind] = frozenset(
    {"missing_argument", "unexpected_argument", "wrong_type", "wrong_value", "schema", "wrong_order"}
)
_MAX_CALLS = 256
"""A reply with more calls than this, beside those expected, is wrong as a whole; its calls are not paired."""


def judge_turn(reply: Reply, calls: Calls, turn: Turn, context: MatchContext) -> Verdict:
    """Judge the calls and the text of the answer, as far as the turn expects anything of them."""
    if turn.expect is not None:
        verdict = judge(reply, calls, turn.expect, context)
    else:
        broken = tuple(_broken_reply_reasons(reply, calls))
        verdict = Verdict(not broken, broken, notes=calls.notes)
    if turn.answer is None:
        return verdict
    wrong = judge_value(turn.answer, reply.text, "wrong_answer", ("answer",), context)
    return replace(verdict, valid=verdict.valid and not wrong, reasons=verdict.reasons + wrong)


def judge(reply: Reply, calls: Calls, expectation: Expectation, context: MatchContext) -> Verdict:
    """Judge a reply and its decoded calls by an expectation.

    Returns a verdict with all reasons for every reply, and never raises. The same arguments give the same verdict.
    """
    if context.rules.profile == "bfcl":
        from pytest_fcall.matching.bfcl.verdict import judge_bfcl

        verdict = judge_bfcl(calls, expectation, context)
        return replace(verdict, notes=calls.notes) if calls.notes else verdict
    comparison = CallComparison(calls.calls, context, wire_effects_of(reply))
    verdict = _judge_expectation(reply, calls, expectation, comparison)
    notes = (*calls.notes, *dict.fromkeys(comparison.notes))
    return replace(verdict, notes=notes) if notes else verdict


def alternative_within(alternative: Expectation, whole: Expectation) -> Expectation:
    """Add what is written beside `any_of`, which applies to every alternative."""
    return replace(
        alternative,
        never=alternative.never + whole.never,
        allow=alternative.allow + whole.allow,
        extra="allow" if "allow" in (alternative.extra, whole.extra) else "forbid",
    )


def unconditional_reasons(index: int, comparison: CallComparison, never: Sequence[CallPattern]) -> Iterator[Reason]:
    """Report a call of a tool that was not offered, and a call that is forbidden, whatever is expected.

    A call that cannot be compared with a forbidden one counts as forbidden.
    """
    call = comparison.calls[index]
    path = f"calls[{index}]"
    if comparison.is_unknown(index):
        from pytest_fcall.matching.wording import printable_name

        message = f"`{printable_name(call.name)}` is not one of the tools offered{_suggestion(call.name, comparison)}"
        yield Reason("unknown_tool", path, message, got=call.name)
    for pattern in never:
        found = comparison.pattern_mismatches(pattern, index)
        if found is not None and all(each.undecided for each in found):
            from pytest_fcall.matching.wording import call_text

            why = (
                f"is forbidden, and its arguments could not be checked: {found[0].message()}"
                if found
                else "is forbidden"
            )
            yield Reason("forbidden_call", path, f"{call_text(call)} {why}", got=call.name)
            return


def has_too_many_calls(count: int, expectation: Expectation) -> bool:
    """Whether there are so many calls that they are not paired."""
    return count > _MAX_CALLS + sum(map(len, expectation.stages))


def _judge_expectation(reply: Reply, calls: Calls, expectation: Expectation, comparison: CallComparison) -> Verdict:
    if expectation.kind == "any_of":
        alternatives = (alternative_within(alternative, expectation) for alternative in expectation.alternatives)
        return _nearest_alternative([_judge_expectation(reply, calls, each, comparison) for each in alternatives])
    found = _judge_calls(expectation, comparison)
    broken = _broken_reply_reasons(reply, calls)
    # In a broken reply, missing calls may have been in the part that is cut off or cannot be read.
    missing = () if broken else _missing_reasons(found, reply, calls)
    reasons = (*broken, *found.wrong, *missing)
    return Verdict(not reasons, reasons, found.pairs)


def _judge_calls(expectation: Expectation, comparison: CallComparison) -> CallFindings:
    """Judge the calls of a reply, whatever else is wrong with it."""
    indices = range(len(comparison.calls))
    never = (*expectation.never, *comparison.context.rules.never)
    is_exact = _are_exact_in_order(expectation, comparison)
    unconditional = (
        [tuple(unconditional_reasons(index, comparison, never)) for index in indices] if never or not is_exact else []
    )
    if is_exact and not any(unconditional):
        return CallFindings(pairs=tuple((index, index) for index in indices))
    if has_too_many_calls(len(indices), expectation):
        message = f"The reply has {len(indices):,} calls, more than are compared one by one."
        too_many = Reason("wrong_count", "calls", message, got=len(indices))
        return CallFindings((too_many, *(reason for each in unconditional for reason in each)))
    from pytest_fcall.matching.call_pairing import pair_and_explain

    return pair_and_explain(expectation, comparison, unconditional)


def _suggestion(name: str, comparison: CallComparison) -> str:
    near = nearest(name, comparison.context.tools_by_name)
    return f"; did the model mean `{near}`?" if near else ""


def _are_exact_in_order(expectation: Expectation, comparison: CallComparison) -> bool:
    """Whether the calls are exactly the expected ones in the expected order, as in most right replies."""
    if expectation.kind == "any_call":
        return False
    expected = [call for stage in expectation.stages for call in stage]
    return len(expected) == len(comparison.calls) and all(
        each.times == (1, 1) and comparison.mismatches(each, index) == [] and not comparison.is_unknown(index)
        for index, each in enumerate(expected)
    )


def _broken_reply_reasons(reply: Reply, calls: Calls) -> list[Reason]:
    """The reasons why the reply is not a whole answer; none where it is one."""
    found: list[Reason] = []
    if calls.malformed is not None:
        found.append(Reason("malformed", "reply", calls.malformed))
    if reply.finish == "length":
        message = "The reply was cut off at the length limit (`max_tokens`)."
        found.append(Reason("truncated", "reply", message, got=reply.finish))
    if reply.refusal is not None or reply.finish == "refusal":
        words = f": {reply.refusal[:200]!r}" if reply.refusal else "."
        found.append(Reason("refused", "reply", f"The model refused to answer{words}", got=reply.refusal))
    elif reply.finish == "content_filter":
        message = "The provider's content filter stopped the reply."
        found.append(Reason("refused", "reply", message, got=reply.finish))
    return found


def _missing_reasons(found: CallFindings, reply: Reply, calls: Calls) -> Sequence[Reason]:
    """The missing calls; and an empty reply, which is wrong even where no call is expected."""
    if calls.calls or reply.text.strip():
        return found.missing
    if found.missing:
        return [replace(reason, message=f"{reason.message}; the reply is empty") for reason in found.missing]
    return [Reason("malformed", "reply", "The reply is empty: it has neither text nor a call.", got=reply.text)]


def _nearest_alternative(verdicts: Sequence[Verdict]) -> Verdict:
    """The first right alternative, or else the one with the fewest things wrong, whatever their order."""
    number, verdict = min(enumerate(verdicts), key=lambda numbered: _verdict_distance(numbered[1]))
    return replace(verdict, alternative=number)


def _verdict_distance(verdict: Verdict) -> tuple[int, list[str], list[tuple[str, str]]]:
    weight = sum(1 if reason.kind in _INSIDE_A_CALL else 1_000 for reason in verdict.reasons)
    # Kinds before paths: the choice should not depend on the order of the calls.
    kinds: list[str] = sorted(reason.kind for reason in verdict.reasons)
    return weight, kinds, [(reason.path, reason.message) for reason in verdict.reasons]
