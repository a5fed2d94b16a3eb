"""Lists, and the operators on them: `$subset`, `$unordered`, `$ordered`, `$each`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcall.core.pattern import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.mismatch import Mismatch
from pytest_fcall.matching.objects import Compare, compare_below, compare_named
from pytest_fcall.matching.operators.operand import BadOperandError, is_list, patterns
from pytest_fcall.matching.pairing import cover
from pytest_fcall.matching.place import Place
from pytest_fcall.matching.wording import show

_MOST_COMPARED = 10_000
"""Values that are compared with one another at most to look for another order, and name it."""


def compare_list(expected: Sequence[Pattern], got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """Compare a list whose items and order are known."""
    if not isinstance(got, list | tuple) or len(got) != len(expected):
        return at.mismatch(expected, got, lengths(expected, got))
    found = [
        each
        for index, (pattern, item) in enumerate(zip(expected, got, strict=True))
        for each in compare_below(pattern, item, at.child(index), compare)
    ]
    if len(found) > 1 and _work(expected) <= _MOST_COMPARED and not _assign(expected, expected, got, at, compare):
        return at.mismatch(expected, got, "the same items in another order: `$unordered` would accept it")
    return found


def unordered(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """Just these items, in any order."""
    expected = patterns(operator)
    if not isinstance(got, list | tuple) or len(got) != len(expected):
        return at.mismatch(operator, got, lengths(expected, got))
    return _assign(operator, expected, got, at, compare)


def ordered(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """Just these items, in this order."""
    return compare_list(patterns(operator), got, at, compare)


def subset(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """At least these keys or items."""
    expected = operator.operand
    if isinstance(expected, Mapping):
        return compare_named(expected, got, at, compare) if isinstance(got, Mapping) else at.mismatch(operator, got)
    if not is_list(expected):
        raise BadOperandError("`$subset` takes an object or a list")
    return (
        _assign(operator, expected, got, at, compare) if isinstance(got, list | tuple) else at.mismatch(operator, got)
    )


def each(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """A list every item of which matches."""
    if not isinstance(got, list | tuple):
        return at.mismatch(operator, got)
    return [
        found
        for index, item in enumerate(got)
        for found in compare_below(operator.operand, item, at.child(index), compare)
    ]


def _work(expected: Pattern) -> int:
    """How many values are compared at most where every list may be in another order: lists in lists multiply."""
    if isinstance(expected, Operator):
        return _work(expected.operand)
    if isinstance(expected, Mapping):
        return sum(map(_work, expected.values()), 1)
    if not is_list(expected):
        return 1
    return len(expected) * (len(expected) + 1) * max(map(_work, expected), default=1)


def _assign(
    whole: Pattern, expected: Sequence[Pattern], got: Sequence[Json], at: Place, compare: Compare
) -> list[Mismatch]:
    """Find every expected item its own item in the list."""
    places = [at.child(index) for index in range(len(got))]
    fits: list[list[int]] = []
    undecided: list[Mismatch] = []
    for pattern in expected:
        tried = [compare_below(pattern, item, place, compare) for item, place in zip(got, places, strict=True)]
        fits.append([index for index, found in enumerate(tried) if not found])
        undecided += [each for found in tried for each in found if each.undecided]
    if cover([(1, 1)] * len(expected), fits, ()) is not None:
        return []
    lacking = [show(pattern) for pattern, indices in zip(expected, fits, strict=True) if not indices]
    return undecided or at.mismatch(whole, got, f"no item of it is {' or '.join(lacking[:3])}" if lacking else "")


def lengths(expected: Sequence[Pattern], got: Json) -> str:
    """Say that a list is too long or too short; empty where it is not, or is none."""
    if is_list(got) and len(got) != len(expected):
        return f"its length is {len(got)}, not {len(expected)}"
    return ""
