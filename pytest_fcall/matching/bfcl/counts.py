"""How many calls there must be, and which of them stands for which expected one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pytest_fcall.matching.bfcl.call import check_call
from pytest_fcall.matching.bfcl.exam import Exam
from pytest_fcall.matching.bfcl.ruling import VALID, Ruling, objection

Calls: TypeAlias = Sequence[Mapping[Any, Any]]


def simple(exam: Exam, calls: Calls) -> Ruling:
    """One call, of the only function."""
    if len(calls) != 1:
        return _wrong_count("simple_function_checker", 1, calls)
    function, (_, answers) = exam.functions[0], _only(exam.truth[0])
    return check_call(exam, function, calls[0], answers) or VALID


def multiple(exam: Exam, calls: Calls) -> Ruling:
    """One call, of one function among several."""
    if len(calls) != len(exam.truth):
        return _wrong_count("multiple_function_checker", len(exam.truth), calls)
    name, answers = _only(exam.truth[0])
    return check_call(exam, _function(exam, name), calls[0], answers) or VALID


def parallel(exam: Exam, calls: Calls) -> Ruling:
    """Several calls, in any order.

    Each expected call takes the first call left that is right, even one that only another could have taken.
    """
    if len(calls) != len(exam.truth):
        return _wrong_count("parallel_function_checker_no_order", len(exam.truth), calls)
    pairs: list[tuple[int, int]] = []
    left = list(range(len(calls)))
    for number, expected in enumerate(exam.truth):
        name, answers = _only(expected)
        function = _function(exam, name)
        tried: list[tuple[int, Ruling]] = []
        for index in left:
            wrong = check_call(exam, function, calls[index], answers)
            if wrong is None:
                break
            tried.append((index, wrong))
        else:
            return _no_match(number, pairs, tried)
        pairs.append((number, index))
        left.remove(index)
    return Ruling(True, pairs=tuple(pairs))


def _only(expected: Mapping[str, Any]) -> tuple[str, Any]:
    """The name of an expected call, and the answers for its arguments."""
    items = list(expected.items())
    return items[0]  # where there is none, the official checker breaks in the same way


def _function(exam: Exam, name: str) -> Any:
    """Look up what an expected call calls; where there is no such function, the official checker breaks later."""
    for function in exam.functions:
        if function["name"] == name:
            return function
    return None


def _wrong_count(checker: str, wanted: int, calls: Calls) -> Ruling:
    made, are = "1 call was" if len(calls) == 1 else f"{len(calls)} calls were", "is" if wanted == 1 else "are"
    return objection(f"{checker}:wrong_count", f"{made} made where {wanted} {are} wanted")


def _no_match(number: int, pairs: Sequence[tuple[int, int]], tried: Sequence[tuple[int, Ruling]]) -> Ruling:
    errors = (f"no call is right for expected call {number}", *(f"call {i}: {e}" for i, w in tried for e in w.errors))
    error_type = "parallel_function_checker_no_order:cannot_find_match"
    return Ruling(False, error_type, errors, pairs=tuple(pairs), tried=tuple(tried))
