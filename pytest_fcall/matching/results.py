"""What executed calls gave against what a case expects of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_fcall.core.environment import Executed
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


def judge_result(
    expected: Pattern, result: Executed, index: int, rules: Rules, comparators: Mapping[str, Comparator]
) -> tuple[Reason, ...]:
    """Compare what the call at `index` gave. A call that failed gave nothing."""
    keys = ("calls", index, "result")
    if result.error is not None:
        message = f"calls[{index}] failed: {result.error[:500]!r}, expected to give {show(expected)}"
        return (Reason("wrong_result", path_text(keys), message, expected),)
    return tuple(
        Reason("wrong_result", path_text(each.keys), each.tell(), each.expected, each.got)
        for each in mismatches(expected, result.value, keys, rules, comparators)
    )
