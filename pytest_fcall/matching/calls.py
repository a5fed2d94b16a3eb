"""The calls of a reply, judged by those that are expected, allowed and forbidden."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_fcall.core.expectation import CallPattern, Expectation
from pytest_fcall.core.verdict import Reason
from pytest_fcall.matching.call_comparison import CallComparison, CallFindings
from pytest_fcall.schema.value_text import nearest

_MAX_CALLS = 256
"""A reply with more calls than this, beside those expected, is wrong as a whole; its calls are not paired."""


def judge_calls(expectation: Expectation, comparison: CallComparison) -> CallFindings:
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
    from pytest_fcall.matching.call_reasons import pair_and_explain

    return pair_and_explain(expectation, comparison, unconditional)


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
