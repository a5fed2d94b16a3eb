"""Lists, and the operators on them: `$subset`, `$unordered`, `$ordered`, `$each`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.assignment import covering_assignment
from pytest_fcall.matching.objects import SCALARS, Compare, compare_child, compare_named
from pytest_fcall.matching.operators.operand import BadOperandError, is_list, operand_patterns
from pytest_fcall.matching.place import Mismatch, Place
from pytest_fcall.matching.wording import value_text

_MAX_COMPARED = 10_000
"""Values that are compared with one another at most to look for another order, and name it."""


def compare_list(expected: Sequence[Pattern], got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """Compare a list whose items and order are known."""
    if not isinstance(got, list | tuple) or len(got) != len(expected):
        return at.mismatch(expected, got, length_hint(expected, got))
    found = [
        each
        for index, (pattern, item) in enumerate(zip(expected, got, strict=True))
        for each in compare_child(pattern, item, at.child(index), compare)
    ]
    if (
        len(found) > 1
        and _comparison_count(expected) <= _MAX_COMPARED
        and not _compare_in_any_order(expected, expected, got, at, compare)
    ):
        return at.mismatch(expected, got, "the same items in another order: `$unordered` would accept it")
    return found


def unordered(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """Just these items, in any order."""
    expected = operand_patterns(operator)
    if not isinstance(got, list | tuple) or len(got) != len(expected):
        return at.mismatch(operator, got, length_hint(expected, got))
    return _compare_in_any_order(operator, expected, got, at, compare)


def ordered(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """Just these items, in this order."""
    return compare_list(operand_patterns(operator), got, at, compare)


def subset(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """At least these keys or items."""
    expected = operator.operand
    if isinstance(expected, Mapping):
        return compare_named(expected, got, at, compare) if isinstance(got, Mapping) else at.mismatch(operator, got)
    if not is_list(expected):
        raise BadOperandError("`$subset` takes an object or a list")
    return (
        _compare_in_any_order(operator, expected, got, at, compare)
        if isinstance(got, list | tuple)
        else at.mismatch(operator, got)
    )


def each(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """A list every item of which matches."""
    if not isinstance(got, list | tuple):
        return at.mismatch(operator, got)
    return [
        found
        for index, item in enumerate(got)
        for found in compare_child(operator.operand, item, at.child(index), compare)
    ]


def _comparison_count(expected: Pattern) -> int:
    """How many values are compared at most where every list may be in another order: lists in lists multiply."""
    if isinstance(expected, Operator):
        return _comparison_count(expected.operand)
    if isinstance(expected, Mapping):
        return sum(map(_comparison_count, expected.values()), 1)
    if not is_list(expected):
        return 1
    return len(expected) * (len(expected) + 1) * max(map(_comparison_count, expected), default=1)


def _compare_in_any_order(
    whole: Pattern, expected: Sequence[Pattern], got: Sequence[Json], at: Place, compare: Compare
) -> list[Mismatch]:
    """Find every expected item its own item in the list."""
    wanted, items = (expected, got) if at.ways.rules.match else _without_equal_items(expected, got)
    places = [at.child(index) for index in range(len(items))]
    fits: list[list[int]] = []
    undecided: list[Mismatch] = []
    for pattern in wanted:
        tried = [compare_child(pattern, item, place, compare) for item, place in zip(items, places, strict=True)]
        fits.append([index for index, found in enumerate(tried) if not found])
        undecided += [each for found in tried for each in found if each.undecided]
    if covering_assignment([(1, 1)] * len(fits), fits, ()) is not None:
        return []
    lacking = [value_text(pattern) for pattern, indices in zip(wanted, fits, strict=True) if not indices]
    return undecided or at.mismatch(whole, got, f"no item of it is {' or '.join(lacking[:3])}" if lacking else "")


def _without_equal_items(expected: Sequence[Pattern], got: Sequence[Json]) -> tuple[Sequence[Pattern], Sequence[Json]]:
    """Leave out what stands on both sides. Where nothing but plain values is expected, it is paired in any case.

    An operator might need the very item that a plain value could do without.
    """
    if not all(type(pattern) in SCALARS for pattern in expected):
        return expected, got
    both = Counter(map(_type_and_value, expected)) & Counter(
        _type_and_value(item) for item in got if type(item) in SCALARS
    )
    left: list[list[Any]] = []
    for items in (expected, got):
        taken = both.copy()
        left.append([item for item in items if not _take_equal(item, taken)])
    return left[0], left[1]


def _take_equal(item: Any, counts: Counter[tuple[type, Any]]) -> bool:
    if type(item) not in SCALARS or not counts[_type_and_value(item)]:
        return False
    counts[_type_and_value(item)] -= 1
    return True


def _type_and_value(scalar: Any) -> tuple[type, Any]:
    """Tells 1, 1.0 and true apart."""
    return type(scalar), scalar


def length_hint(expected: Sequence[Pattern], got: Json) -> str:
    """Say that a list is too long or too short; empty where it is not, or is none."""
    if is_list(got) and len(got) != len(expected):
        return f"its length is {len(got)}, not {len(expected)}"
    return ""
