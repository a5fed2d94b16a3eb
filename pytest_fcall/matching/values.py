"""One value against one pattern, in a call or outside of calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pytest_fcall.core.expectation import Rules
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.objects import Compare, compare_object
from pytest_fcall.matching.operators.lists import compare_list
from pytest_fcall.matching.operators.numeric import rounding_hint
from pytest_fcall.matching.operators.operand import is_number
from pytest_fcall.matching.operators.table import apply_operator
from pytest_fcall.matching.place import CallContext, Keys, Mismatch, Place
from pytest_fcall.matching.strings import near_miss

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Comparator


def compare(expected: Pattern, got: Json, at: Place) -> list[Mismatch]:
    """Give everything in which `got` differs from what is expected; nothing where it is right.

    Types count: a boolean is no number and no string is one. Whether 1.0 may stand for 1 is the schema's to say.
    """
    if isinstance(expected, Operator):
        return apply_operator(expected, got, at, compare)
    if isinstance(expected, str):
        if not isinstance(got, str):
            return at.mismatch(expected, got)
        return [] if at.same_text(expected, got) else at.mismatch(expected, got, partial(near_miss, expected, got))
    if expected is None or isinstance(expected, bool):
        return [] if got is expected else at.mismatch(expected, got)
    if isinstance(expected, int | float):
        if is_number(got) and got == expected:
            return []
        return at.mismatch(expected, got, partial(rounding_hint, expected, got))
    if isinstance(expected, Mapping):
        return compare_object(expected, got, at, compare)
    return compare_list(expected, got, at, compare)


def compare_outside_calls(
    expected: Pattern,
    got: Json,
    keys: Keys,
    rules: Rules,
    comparators: Mapping[str, Comparator],
    compared: Compare = compare,
) -> list[Mismatch]:
    """Give everything in which the value at `keys` differs from what is expected. Total.

    No schema speaks of such a value, and no rule of `match:`, which are about arguments.
    """
    at = Place(CallContext("", None, replace(rules, match=()), comparators), keys, rules.strings)
    try:
        return compared(expected, got, at)
    except RecursionError:
        return at.undecided(None, None, "what is expected of it nests too deeply.")
