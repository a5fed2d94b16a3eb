"""Operators that combine patterns or accept anything: `$any`, `$all`, `$not`, `$optional`, `$literal`, `$ignore`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.operators.table import operand_patterns
from pytest_fcall.matching.place import Mismatch, Place, number_hint, text_hint


def any_of(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """At least one pattern matches.

    If none does, mismatches inside the nearest alternative are reported, if one alternative is nearer than all others.
    """
    alternatives = operand_patterns(operator)
    tried = []
    for alternative in alternatives:
        mismatches = place.compare(alternative, got)
        if not mismatches:
            return []
        tried.append(mismatches)
    if undecided := [each for mismatches in tried for each in mismatches if each.undecided]:
        return undecided
    fewest = min(map(len, tried), default=0)
    match [mismatches for mismatches in tried if len(mismatches) == fewest]:
        case [nearest] if all(len(each.path) > len(place.path) for each in nearest):
            return nearest
    return place.mismatch(operator, got, partial(_near_alternative_hint, alternatives, got))


def _near_alternative_hint(alternatives: Sequence[Pattern], got: Json) -> str:
    if isinstance(got, str):
        hints = (text_hint(each, got) for each in alternatives if isinstance(each, str))
    else:
        hints = (number_hint(each, got) for each in alternatives)
    return next(filter(None, hints), "")


def all_of(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """All patterns match."""
    return [each for pattern in operand_patterns(operator) for each in place.compare(pattern, got)]


def negation(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """The pattern inside does not match."""
    inside = place.compare(operator.operand, got)
    if not inside:
        return place.mismatch(operator, got)
    # The opposite of what cannot be judged cannot be judged either.
    return inside if all(each.undecided for each in inside) else []


def operand_alone(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """The operand itself matches, as for `$optional` and `$literal`."""
    return place.compare(operator.operand, got)


def anything(_operator: Operator, _got: Json, _place: Place) -> list[Mismatch]:
    """Every value matches."""
    return []
