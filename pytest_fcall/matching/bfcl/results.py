"""What executed calls gave, by the rules of the official checker for calls that it carries out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from pytest_fcall.core.environment import Executed
from pytest_fcall.core.pattern import Operator, Pattern
from pytest_fcall.matching.bfcl.ruling import VALID, Objection, Ruling, objection, written

ResultRule: TypeAlias = Literal["exact_match", "real_time_match", "structural_match"]

_SHARE = 0.2
"""How far a figure that changes with time may be away."""
_NUMBERS = (float, int)


class Wanted(NamedTuple):
    """What a call should give, and how that is compared."""

    value: Any
    rule: ResultRule


def wanted(result: Pattern) -> Wanted:
    """What a case expects of a call, in which nothing is beyond the official checker."""
    match result:
        case Operator("structure", value):
            return Wanted(_plain(value), "structural_match")
        case Operator("approx", value):
            return Wanted(value, "real_time_match")
    return Wanted(_plain(result), "exact_match")


def check_results(wants: Sequence[Wanted], results: Sequence[Executed], *, several: bool) -> Ruling:
    """Judge what all calls of an answer gave; `several` is whether more than one may be wanted. Never raises."""
    try:
        return _in_any_order(wants, results) if several else _only_one(wants, results)
    except Exception as crash:  # whatever the case and the calls hold between them
        return objection(f"case_error:{type(crash).__name__}", "the official checker breaks on this")


def check_result(want: Wanted, result: Executed) -> Ruling:
    """Judge what one call gave. Never raises."""
    try:
        return _wrong(want, result) or VALID
    except Exception as crash:  # numbers too large for one another, values that nest too deeply
        return objection(f"case_error:{type(crash).__name__}", "the official checker breaks on this")


def _plain(pattern: Pattern) -> Any:
    match pattern:
        case Operator():
            return pattern.operand
        case Mapping():
            return {key: _plain(value) for key, value in pattern.items()}
        case list() | tuple():
            return [_plain(item) for item in pattern]
    return pattern


def _only_one(wants: Sequence[Wanted], results: Sequence[Executed]) -> Ruling:
    if len(results) != 1:
        return objection("simple_exec_checker:wrong_count", f"{len(results)} calls were made, not one")
    return _wrong(wants[0], results[0]) or VALID


def _in_any_order(wants: Sequence[Wanted], results: Sequence[Executed]) -> Ruling:
    """Give each expected result the first one left that it accepts, even where another one needs that."""
    if len(wants) != len(results):
        message = f"{len(results)} calls were made, not {len(wants)}"
        return objection("value_error:exec_result_count", message)
    pairs: tuple[tuple[int, int], ...] = ()
    for number, want in enumerate(wants):
        left = [index for index in range(len(results)) if index not in dict(pairs).values()]
        tried: list[tuple[int, Ruling]] = []
        for index in left:
            wrong = _wrong(want, results[index])
            if wrong is None:
                pairs = (*pairs, (number, index))
                break
            tried.append((index, wrong))
        else:
            message = f"no result among those of the calls {left} is the one expected of call {number}"
            return Ruling(False, "executable_checker:cannot_find_match", (message,), pairs=pairs, tried=tuple(tried))
    return Ruling(True, pairs=pairs)


def _wrong(want: Wanted, result: Executed) -> Objection:
    if result.error is not None:
        return objection("executable_checker:execution_error", f"the call failed: {result.error}")
    got: Any = list(result.value) if isinstance(result.value, tuple) else result.value
    if want.rule == "exact_match":
        return _another(want.value, got)
    return _too_far(want.value, got) if want.rule == "real_time_match" else _of_another_form(want.value, got)


def _another(wanted: Any, got: Any) -> Objection:
    if got != wanted:
        return objection("executable_checker:wrong_result", f"the call gave {written(got)}, not {written(wanted)}")
    return None


def _too_far(wanted: Any, got: Any) -> Objection:
    """Compare numbers. Below zero the two bounds change places, so that nothing fits."""
    error_type = "executable_checker:wrong_result_real_time"
    if type(wanted) not in _NUMBERS or type(got) not in _NUMBERS:
        return objection(error_type, f"{written(got)} or {written(wanted)} is no number")
    if not wanted * (1 - _SHARE) <= got <= wanted * (1 + _SHARE):
        return objection(error_type, f"the call gave {written(got)}, more than 20 % from {written(wanted)}")
    return None


def _of_another_form(wanted: Any, got: Any) -> Objection:
    """Compare the type, and the keys or the length; nothing is said of what stands inside."""
    error_type = "executable_checker:wrong_result_type"
    if type(got) is not type(wanted):
        message = f"the call gave {written(got)}, not a value of the type of {written(wanted)}"
        return objection(error_type, message)
    if type(got) is dict:
        for key in wanted:
            if key not in got:
                return objection(f"{error_type}:dict_key_not_found", f"the key {written(key)} is missing")
        for key in got:
            if key not in wanted:
                return objection(f"{error_type}:dict_extra_key", f"the key {written(key)} is not expected")
    if type(got) is list and len(got) != len(wanted):
        return objection(f"{error_type}:list_length", f"the list holds {len(got)} items, not {len(wanted)}")
    return None
