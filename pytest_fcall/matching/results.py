"""Results of executed calls, and the state they left, against what a case expects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeGuard

from pytest_fcall.core.bfcl_support import SUPPORTED_IN_RESULTS, unsupported_in_result
from pytest_fcall.core.conversation import CallResult
from pytest_fcall.core.expectation import ExpectedCall, Rules
from pytest_fcall.core.operators import Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason
from pytest_fcall.matching.objects import compare_named
from pytest_fcall.matching.place import Keys, Mismatch, Place
from pytest_fcall.matching.values import compare, compare_outside_calls
from pytest_fcall.matching.wording import value_text
from pytest_fcall.schema.value_text import describe_changes, json_text, nearest, path_text

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator


def judge_results(
    expected: Pattern, results: Sequence[CallResult], rules: Rules, comparators: Mapping[str, Comparator]
) -> tuple[Reason, ...]:
    """Compare what the last call gave. `results` are those of all calls of a turn, in order.

    Every reason is a `wrong_result` with a path such as `calls[2].result.price`.
    """
    if not results:
        message = f"No call was carried out, expected one that gives {value_text(expected)}"
        return (Reason("wrong_result", "calls", message, expected),)
    return judge_result(expected, results[-1], len(results) - 1, rules, comparators)


def judge_call_results(
    expected: Sequence[ExpectedCall],
    pairs: Sequence[tuple[int, int]],
    results: Sequence[CallResult],
    rules: Rules,
    comparators: Mapping[str, Comparator],
) -> Iterator[Reason]:
    """Compare what each call gave with what is expected of the call that it is paired with."""
    for place, index in pairs:
        wanted = expected[place].result
        if wanted is not None and index < len(results):
            yield from judge_result(wanted, results[index], index, rules, comparators)


def judge_result(
    expected: Pattern, result: CallResult, index: int, rules: Rules, comparators: Mapping[str, Comparator]
) -> tuple[Reason, ...]:
    """Compare what the call at `index` gave. A call that failed gave nothing."""
    keys = ("calls", index, "result")
    if rules.profile == "bfcl":
        return _judge_as_bfcl(expected, result, path_text(keys))
    if result.error is not None:
        message = f"calls[{index}] failed: {result.error[:500]!r}, expected to give {value_text(expected)}"
        return (Reason("wrong_result", path_text(keys), message, expected),)
    return tuple(
        Reason("wrong_result", path_text(each.keys), each.tell(), each.expected, each.got)
        for each in compare_outside_calls(expected, result.value, keys, rules, comparators)
    )


def _judge_as_bfcl(expected: Pattern, result: CallResult, path: str) -> tuple[Reason, ...]:
    from pytest_fcall.matching.bfcl.results import check_result, expected_result

    if beyond := [*unsupported_in_result(expected)]:
        message = f"the profile `bfcl` knows {SUPPORTED_IN_RESULTS}, but not {', '.join(beyond)}"
        return (Reason("wrong_result", path, message, expected, result.value),)
    ruling = check_result(expected_result(expected), result)
    told = (f"{message} (bfcl: {ruling.error_type})" for message in ruling.errors)
    return tuple(Reason("wrong_result", path, message, expected, result.value) for message in told)


_STATE = "state"


def judge_state(
    expected: Mapping[str, Pattern], state: CallResult, rules: Rules, comparators: Mapping[str, Comparator]
) -> tuple[Reason, ...]:
    """Compare the attributes that are named; others are free. What stands inside them must be just that.

    Every reason is a `wrong_state` with a path such as `state.orders[0].status`.
    """
    if state.error is not None:
        return (Reason("wrong_state", _STATE, f"The state cannot be read: {state.error[:500]}", expected),)
    found = compare_outside_calls(expected, state.value, (_STATE,), rules, comparators, _compare_attributes)
    return tuple(
        Reason(
            "wrong_state",
            path_text(each.keys),
            f"{each.tell()}{_attribute_hint(each, state.value)}",
            each.expected,
            each.got,
        )
        for each in found
    )


def state_changes(expected: Mapping[str, Pattern], state: Json) -> list[str]:
    """Say what became of the attributes that are expected outright, a line each: `state.balance: 12 → 7`.

    Attributes with an operator anywhere inside are left out, since nobody can say what they should have become.
    """
    if not isinstance(state, Mapping):
        return []
    plain = {name: value for name, value in expected.items() if _is_plain(value)}
    there = {name: state[name] for name in plain if name in state}
    return describe_changes(plain, there, (_STATE,))


def _compare_attributes(expected: Pattern, got: Json, at: Place) -> list[Mismatch]:
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        return compare_named(expected, got, at, compare)
    return at.mismatch(expected, got)


def _is_plain(pattern: Pattern) -> TypeGuard[Json]:
    return json_text(pattern) is not None


def _attribute_hint(mismatch: Mismatch, state: Json) -> str:
    """Name the attribute or key that was probably meant, where the one that is expected is not there."""
    if mismatch.kind != "missing_argument":
        return ""
    *above, name = mismatch.keys[1:]
    around = _value_at(state, tuple(above))
    near = nearest(name, around) if isinstance(around, Mapping) else None
    return f"; did you mean `{near}`?" if near else ""


def _value_at(value: Json, keys: Keys) -> Json:
    """Go down to a value; null where there is none, as inside JSON that travels as text."""
    for key in keys:
        if isinstance(value, Mapping) and key in value:
            value = value[str(key)]
        elif isinstance(value, list | tuple) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value
