"""What executed calls gave against what a case expects of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_fcall.core.beyond_bfcl import KNOWN_OF_RESULTS, beyond_bfcl_result
from pytest_fcall.core.environment import Executed
from pytest_fcall.core.expectation import ExpectedCall
from pytest_fcall.core.pattern import Pattern
from pytest_fcall.core.rules import Rules
from pytest_fcall.core.verdict import Reason
from pytest_fcall.matching.outside_calls import mismatches
from pytest_fcall.matching.wording import show
from pytest_fcall.schema.words import path_text

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator


def judge_results(
    expected: Pattern, results: Sequence[Executed], rules: Rules, comparators: Mapping[str, Comparator]
) -> tuple[Reason, ...]:
    """Compare what the last call gave. `results` are those of all calls of a turn, in order.

    Every reason is a `wrong_result` with a path such as `calls[2].result.price`.
    """
    if not results:
        message = f"No call was carried out, expected one that gives {show(expected)}"
        return (Reason("wrong_result", "calls", message, expected),)
    return judge_result(expected, results[-1], len(results) - 1, rules, comparators)


def judge_call_results(
    expected: Sequence[ExpectedCall],
    pairs: Sequence[tuple[int, int]],
    results: Sequence[Executed],
    rules: Rules,
    comparators: Mapping[str, Comparator],
) -> Iterator[Reason]:
    """Compare what each call gave with what is expected of the call that it is paired with."""
    for place, index in pairs:
        wanted = expected[place].result
        if wanted is not None and index < len(results):
            yield from judge_result(wanted, results[index], index, rules, comparators)


def judge_result(
    expected: Pattern, result: Executed, index: int, rules: Rules, comparators: Mapping[str, Comparator]
) -> tuple[Reason, ...]:
    """Compare what the call at `index` gave. A call that failed gave nothing."""
    keys = ("calls", index, "result")
    if rules.profile == "bfcl":
        return _as_bfcl(expected, result, path_text(keys))
    if result.error is not None:
        message = f"calls[{index}] failed: {result.error[:500]!r}, expected to give {show(expected)}"
        return (Reason("wrong_result", path_text(keys), message, expected),)
    return tuple(
        Reason("wrong_result", path_text(each.keys), each.tell(), each.expected, each.got)
        for each in mismatches(expected, result.value, keys, rules, comparators)
    )


def _as_bfcl(expected: Pattern, result: Executed, path: str) -> tuple[Reason, ...]:
    from pytest_fcall.matching.bfcl.results import check_result, wanted

    if beyond := [*beyond_bfcl_result(expected)]:
        message = f"the profile `bfcl` knows {KNOWN_OF_RESULTS}, but not {', '.join(beyond)}"
        return (Reason("wrong_result", path, message, expected, result.value),)
    ruling = check_result(wanted(expected), result)
    told = (f"{message} (bfcl: {ruling.error_type})" for message in ruling.errors)
    return tuple(Reason("wrong_result", path, message, expected, result.value) for message in told)
