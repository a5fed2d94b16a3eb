"""Operators on shapes: `$type`, `$structure`; of lists and objects: `$subset`, `$unordered`, `$ordered`, `$each`."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.containers import compare_in_any_order, compare_list, compare_named, compare_object
from pytest_fcall.matching.operators.table import BadOperandError, operand_patterns
from pytest_fcall.matching.place import Mismatch, Place, is_list, length_hint
from pytest_fcall.matching.wording import json_type


def of_type(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """A value of the named type, or of one of several. Every integer is a number."""
    types = operator.operand if is_list(operator.operand) else [operator.operand]
    type_ = json_type(got)
    if type_ in types or (type_ == "integer" and "number" in types):
        return []
    return place.mismatch(operator, got)


def same_structure(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """The same types, keys and lengths of lists at all depths; operators inside are compared as elsewhere."""
    place = place.outside_schema()
    plain = place.context

    def compare(expected: Pattern, value: Json, at: Place) -> list[Mismatch]:
        if isinstance(expected, Operator):
            return at._replace(context=plain).compare(expected, value)
        if isinstance(expected, Mapping):
            return compare_object(expected, value, at)
        if not is_list(expected):
            return of_type(Operator("type", json_type(expected)), value, at)
        if not isinstance(value, list | tuple) or len(value) != len(expected):
            return at.mismatch(expected, value, length_hint(expected, value))
        return [
            found
            for index, item in enumerate(value)
            for found in at.child(index).compare_by_rule(expected[index], item)
        ]

    return place._replace(context=plain._replace(compare=compare)).compare(operator.operand, got)


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
