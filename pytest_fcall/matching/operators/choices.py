"""Operators that combine others: `$any`, `$all`, `$not`, `$optional`, `$ignore`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.objects import Compare
from pytest_fcall.matching.operators.numeric import rounding_hint
from pytest_fcall.matching.operators.operand import operand_patterns
from pytest_fcall.matching.place import Mismatch, Place
from pytest_fcall.matching.strings import near_miss


def any_of(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """At least one matches. On failure the nearest alternative is explained, if it is near, and no other is as near."""
    alternatives = operand_patterns(operator)
    tried = []
    for alternative in alternatives:
        mismatches = compare(alternative, got, at)
        if not mismatches:
            return []
        tried.append(mismatches)
    if undecided := [each for mismatches in tried for each in mismatches if each.undecided]:
        return undecided
    fewest = min(map(len, tried), default=0)
    match [mismatches for mismatches in tried if len(mismatches) == fewest]:
        case [nearest] if all(len(each.keys) > len(at.keys) for each in nearest):
            return nearest
    return at.mismatch(operator, got, partial(_near_alternative_hint, alternatives, got))


def _near_alternative_hint(alternatives: Sequence[Pattern], got: Json) -> str:
    if isinstance(got, str):
        hints = (near_miss(each, got) for each in alternatives if isinstance(each, str))
    else:
        hints = (rounding_hint(each, got) for each in alternatives)
    return next(filter(None, hints), "")


def all_of(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """Every one matches."""
    return [each for pattern in operand_patterns(operator) for each in compare(pattern, got, at)]


def not_this(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """The pattern inside does not match."""
    inside = compare(operator.operand, got, at)
    if not inside:
        return at.mismatch(operator, got)
    # What cannot be judged is neither right nor wrong, so its opposite is no more right.
    return inside if all(each.undecided for each in inside) else []


def optional(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """The pattern inside matches what is given."""
    return compare(operator.operand, got, at)


def ignore(_operator: Operator, _got: Json, _at: Place, _compare: Compare) -> list[Mismatch]:
    """Nothing can be wrong."""
    return []
