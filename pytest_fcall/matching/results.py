"""Results of executed calls, and the state they left, judged by what a case expects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

from pytest_fcall.core.bfcl_support import SUPPORTED_IN_RESULTS, unsupported_in_result
from pytest_fcall.core.conversation import CallResult
from pytest_fcall.core.expectation import ExpectedCall
from pytest_fcall.core.message_text import clauses, describe_changes, did_you_mean, json_text
from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.values import Json, path_text
from pytest_fcall.core.verdict import Reason
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.place import Mismatch, ValuePath
from pytest_fcall.matching.values import compare_attributes, judge_value
from pytest_fcall.matching.wording import value_text

_STATE = "state"


def judge_last_result(expected: Pattern, results: Sequence[CallResult], context: MatchContext) -> tuple[Reason, ...]:
    """Judge the result of the last call. `results` are those of all calls of a turn, in order.

    Every reason is a `wrong_result` with a path such as `calls[2].result.price`.
    """
    if not results:
        message = f"No call was executed, expected one that returns {value_text(expected)}"
        return (Reason("wrong_result", "calls", message, expected),)
    return judge_result(expected, results[-1], len(results) - 1, context)


def judge_call_results(
    expected: Sequence[ExpectedCall],
    pairs: Sequence[tuple[int, int]],
    results: Sequence[CallResult],
    context: MatchContext,
) -> Iterator[Reason]:
    """Judge the result of each call by the expected call that it is paired with."""
    for place, index in pairs:
        wanted = expected[place].result
        if wanted is not None and index < len(results):
            yield from judge_result(wanted, results[index], index, context)


def judge_result(expected: Pattern, result: CallResult, index: int, context: MatchContext) -> tuple[Reason, ...]:
    """Judge the result of the call at `index`. A failed call has none."""
    path: ValuePath = ("calls", index, "result")
    if context.rules.profile == "bfcl":
        return _judge_by_bfcl(expected, result, path_text(path))
    if result.error is not None:
        message = f"calls[{index}] failed: {result.error[:500]!r}, expected to return {value_text(expected)}"
        return (Reason("wrong_result", path_text(path), message, expected),)
    return judge_value(expected, result.value, "wrong_result", path, context)


def _judge_by_bfcl(expected: Pattern, result: CallResult, path: str) -> tuple[Reason, ...]:
    from pytest_fcall.matching.bfcl.results import check_result, expected_result

    if unsupported := [*unsupported_in_result(expected)]:
        message = f"the profile `bfcl` supports only {SUPPORTED_IN_RESULTS}, not {', '.join(unsupported)}"
        return (Reason("wrong_result", path, message, expected, result.value),)
    ruling = check_result(expected_result(expected), result)
    messages = (f"{message} (bfcl: {ruling.error_type})" for message in ruling.errors)
    return tuple(Reason("wrong_result", path, message, expected, result.value) for message in messages)


def judge_state(expected: Mapping[str, Pattern], state: CallResult, context: MatchContext) -> tuple[Reason, ...]:
    """Judge the attributes that are expected; others are allowed. Objects inside them are compared as a whole.

    Every reason is a `wrong_state` with a path such as `state.orders[0].status`.
    """
    if state.error is not None:
        return (Reason("wrong_state", _STATE, f"The state cannot be read: {state.error[:500]}", expected),)
    found = compare_attributes(expected, state.value, (_STATE,), context)
    return tuple(
        Reason(
            "wrong_state",
            path_text(each.path),
            clauses(each.message(), _attribute_hint(each, state.value)),
            each.expected,
            each.got,
        )
        for each in found
    )


def state_changes(expected: Mapping[str, Pattern], state: Json) -> list[str]:
    """Describe how plain expected attributes differ from the state, a line each: `state.balance: 12 → 7`.

    Attributes with an operator inside are left out: they have no single expected value.
    """
    if not isinstance(state, Mapping):
        return []
    plain = {name: value for name, value in expected.items() if _is_plain(value)}
    there = {name: state[name] for name in plain if name in state}
    return describe_changes(plain, there, (_STATE,))


def _is_plain(pattern: Pattern) -> TypeGuard[Json]:
    return json_text(pattern) is not None


def _attribute_hint(mismatch: Mismatch, state: Json) -> str:
    """Suggest the attribute or key that was probably meant instead of a missing one."""
    if mismatch.kind != "missing_argument":
        return ""
    *above, name = mismatch.path[1:]
    around = _value_at(state, tuple(above))
    return did_you_mean(name, around) if isinstance(around, Mapping) else ""


def _value_at(value: Json, path: ValuePath) -> Json:
    """The value at a path; null where there is none, as inside JSON that travels as text."""
    for key in path:
        if isinstance(value, Mapping) and key in value:
            value = value[str(key)]
        elif isinstance(value, list | tuple) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value
