"""The official rules for results of executed calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from pytest_fcall.core.conversation import CallResult
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.matching.bfcl.official_case import VALID, Objection, Ruling, objection, short_repr

ResultRule: TypeAlias = Literal["exact_match", "real_time_match", "structural_match"]

_TOLERANCE = 0.2
"""The largest relative difference of a figure that changes with time."""
_NUMBERS = (float, int)


class ExpectedResult(NamedTuple):
    """The expected result of a call, and how it is compared."""

    value: Any
    rule: ResultRule


def expected_result(result: Pattern) -> ExpectedResult:
    """The official form of an expected result that the official checker supports."""
    match result:
        case Operator("structure", value):
            return ExpectedResult(_plain(value), "structural_match")
        case Operator("approx", value):
            return ExpectedResult(value, "real_time_match")
    return ExpectedResult(_plain(result), "exact_match")


def check_results(wants: Sequence[ExpectedResult], results: Sequence[CallResult], *, several: bool) -> Ruling:
    """Judge the results of all calls of an answer; `several` is true for parallel categories. Never raises."""
    try:
        return _in_any_order(wants, results) if several else _only_one(wants, results)
    except Exception as crash:  # odd values raise many kinds
        return objection(f"case_error:{type(crash).__name__}", "the official checker raises an error on this")


def check_result(want: ExpectedResult, result: CallResult) -> Ruling:
    """Judge the result of one call. Never raises."""
    try:
        return _check(want, result) or VALID
    except Exception as crash:  # numbers that are too large, values that are nested too deeply
        return objection(f"case_error:{type(crash).__name__}", "the official checker raises an error on this")


def _plain(pattern: Pattern) -> Any:
    match pattern:
        case Operator():
            return pattern.operand
        case Mapping():
            return {key: _plain(value) for key, value in pattern.items()}
        case list() | tuple():
            return [_plain(item) for item in pattern]
    return pattern


def _only_one(wants: Sequence[ExpectedResult], results: Sequence[CallResult]) -> Ruling:
    if len(results) != 1:
        return objection("simple_exec_checker:wrong_count", f"{len(results)} calls were made, expected 1")
    return _check(wants[0], results[0]) or VALID


def _in_any_order(wants: Sequence[ExpectedResult], results: Sequence[CallResult]) -> Ruling:
    """Give each expected result the first matching result that is left, even if another one needs that."""
    if len(wants) != len(results):
        message = f"{len(results)} calls were made, expected {len(wants)}"
        return objection("value_error:exec_result_count", message)
    pairs: tuple[tuple[int, int], ...] = ()
    for number, want in enumerate(wants):
        left = [index for index in range(len(results)) if index not in dict(pairs).values()]
        rejected: list[tuple[int, Ruling]] = []
        for index in left:
            wrong = _check(want, results[index])
            if wrong is None:
                pairs = (*pairs, (number, index))
                break
            rejected.append((index, wrong))
        else:
            message = f"none of the results of the calls {left} is the one expected of call {number}"
            return Ruling(
                False, "executable_checker:cannot_find_match", (message,), pairs=pairs, rejected=tuple(rejected)
            )
    return Ruling(True, pairs=pairs)


def _check(want: ExpectedResult, result: CallResult) -> Objection:
    if result.error is not None:
        return objection("executable_checker:execution_error", f"the call failed: {result.error}")
    got: Any = list(result.value) if isinstance(result.value, tuple) else result.value
    if want.rule == "exact_match":
        return _check_equal(want.value, got)
    return _check_real_time(want.value, got) if want.rule == "real_time_match" else _check_structure(want.value, got)


def _check_equal(wanted: Any, got: Any) -> Objection:
    if got != wanted:
        return objection(
            "executable_checker:wrong_result", f"the result is {short_repr(got)}, not {short_repr(wanted)}"
        )
    return None


def _check_real_time(wanted: Any, got: Any) -> Objection:
    """Compare numbers. Below zero the official bounds change places, so that nothing fits."""
    error_type = "executable_checker:wrong_result_real_time"
    if type(wanted) not in _NUMBERS or type(got) not in _NUMBERS:
        return objection(error_type, f"{short_repr(got)} or {short_repr(wanted)} is not a number")
    if not wanted * (1 - _TOLERANCE) <= got <= wanted * (1 + _TOLERANCE):
        return objection(error_type, f"the result is {short_repr(got)}, more than 20 % from {short_repr(wanted)}")
    return None


def _check_structure(wanted: Any, got: Any) -> Objection:
    """Compare the type, and the keys or the length, but nothing inside."""
    error_type = "executable_checker:wrong_result_type"
    if type(got) is not type(wanted):
        message = f"the result is {short_repr(got)}, not a value of the type of {short_repr(wanted)}"
        return objection(error_type, message)
    if type(got) is dict:
        for key in wanted:
            if key not in got:
                return objection(f"{error_type}:dict_key_not_found", f"the key {short_repr(key)} is missing")
        for key in got:
            if key not in wanted:
                return objection(f"{error_type}:dict_extra_key", f"the key {short_repr(key)} is not expected")
    if type(got) is list and len(got) != len(wanted):
        return objection(f"{error_type}:list_length", f"the list has {len(got)} items, not {len(wanted)}")
    return None
