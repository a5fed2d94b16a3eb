"""One value against one pattern."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pytest_fcall.core.pattern import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.mismatch import Mismatch
from pytest_fcall.matching.objects import compare_object
from pytest_fcall.matching.operators.lists import compare_list
from pytest_fcall.matching.operators.numeric import rounding
from pytest_fcall.matching.operators.operand import is_number
from pytest_fcall.matching.operators.table import apply
from pytest_fcall.matching.place import Place
from pytest_fcall.matching.strings import near_miss


def compare(expected: Pattern, got: Json, at: Place) -> list[Mismatch]:
    """Give everything in which `got` differs from what is expected; nothing where it is right.

    Types count: a boolean is no number and no string is one. Whether 1.0 may stand for 1 is the schema's to say.
    """
    if isinstance(expected, Operator):
        return apply(expected, got, at, compare)
    if isinstance(expected, str):
        if not isinstance(got, str):
            return at.mismatch(expected, got)
        return [] if at.same_text(expected, got) else at.mismatch(expected, got, partial(near_miss, expected, got))
    if expected is None or isinstance(expected, bool):
        return [] if got is expected else at.mismatch(expected, got)
    if isinstance(expected, int | float):
        if is_number(got) and got == expected:
            return []
        return at.mismatch(expected, got, partial(rounding, expected, got))
    if isinstance(expected, Mapping):
        return compare_object(expected, got, at, compare)
    return compare_list(expected, got, at, compare)
