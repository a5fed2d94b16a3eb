"""Operators on the shape of a value: `$type` and `$structure`."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.objects import Compare, compare_child, compare_object
from pytest_fcall.matching.operators.lists import length_hint
from pytest_fcall.matching.operators.operand import is_list
from pytest_fcall.matching.place import Mismatch, Place
from pytest_fcall.matching.wording import json_type


def of_type(operator: Operator, got: Json, at: Place, _compare: Compare) -> list[Mismatch]:
    """A value of the type that is named, or of one of several. Every integer is a number."""
    wanted = operator.operand if is_list(operator.operand) else [operator.operand]
    type_ = json_type(got)
    if type_ in wanted or (type_ == "integer" and "number" in wanted):
        return []
    return at.mismatch(operator, got)


def same_structure(operator: Operator, got: Json, at: Place, compare: Compare) -> list[Mismatch]:
    """The same types, keys and lengths of lists, all the way down; an operator inside says what else is asked."""

    def alike(expected: Pattern, given: Json, place: Place) -> list[Mismatch]:
        if isinstance(expected, Operator):
            return compare(expected, given, place)
        if isinstance(expected, Mapping):
            return compare_object(expected, given, place, alike)
        if not is_list(expected):
            return of_type(Operator("type", json_type(expected)), given, place, compare)
        if not isinstance(given, list | tuple) or len(given) != len(expected):
            return place.mismatch(expected, given, length_hint(expected, given))
        return [
            found
            for index, item in enumerate(given)
            for found in compare_child(expected[index], item, place.child(index), alike)
        ]

    return alike(operator.operand, got, at.outside_schema())
