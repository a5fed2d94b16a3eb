"""Operators on the shape of a value: `$type` and `$structure`."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.containers import compare_object
from pytest_fcall.matching.hints import length_hint
from pytest_fcall.matching.place import Mismatch, Place, is_list
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
