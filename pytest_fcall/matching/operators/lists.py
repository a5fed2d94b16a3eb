"""Operators on lists and objects: `$subset`, `$unordered`, `$ordered`, `$each`."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcall.core.operators import Operator
from pytest_fcall.core.values import Json
from pytest_fcall.matching.containers import compare_in_any_order, compare_list, compare_named
from pytest_fcall.matching.hints import length_hint
from pytest_fcall.matching.operators.operand import BadOperandError, operand_patterns
from pytest_fcall.matching.place import Mismatch, Place, is_list


def unordered(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """Exactly these items, in any order."""
    expected = operand_patterns(operator)
    if not isinstance(got, list | tuple) or len(got) != len(expected):
        return place.mismatch(operator, got, length_hint(expected, got))
    return compare_in_any_order(operator, expected, got, place)


def ordered(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """Exactly these items, in this order."""
    return compare_list(operand_patterns(operator), got, place)


def subset(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """At least these keys or items."""
    expected = operator.operand
    if isinstance(expected, Mapping):
        return compare_named(expected, got, place) if isinstance(got, Mapping) else place.mismatch(operator, got)
    if not is_list(expected):
        raise BadOperandError("`$subset` takes an object or a list")
    if not isinstance(got, list | tuple):
        return place.mismatch(operator, got)
    return compare_in_any_order(operator, expected, got, place)


def each(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """A list in which every item matches."""
    if not isinstance(got, list | tuple):
        return place.mismatch(operator, got)
    return [
        found for index, item in enumerate(got) for found in place.child(index).compare_by_rule(operator.operand, item)
    ]
