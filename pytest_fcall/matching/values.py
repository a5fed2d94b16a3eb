"""The comparison of one value with one pattern: scalars, objects and lists."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Reason, ReasonKind
from pytest_fcall.matching.containers import compare_list, compare_named, compare_object
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.place import CallContext, Mismatch, Place, ValuePath, is_number, number_hint, text_hint

TOO_DEEP = "the expected value is nested too deeply."


def compare(expected: Pattern, got: Json, place: Place) -> list[Mismatch]:
    """Return all differences between a value and what is expected of it; none where the value is right.

    Types count: neither a boolean nor a string is a number. Whether 1.0 may stand for 1 depends on the schema.
    """
    if isinstance(expected, Operator):
        from pytest_fcall.matching.operators.table import apply_operator

        return apply_operator(expected, got, place)
    if isinstance(expected, str):
        if not isinstance(got, str):
            return place.mismatch(expected, got)
        return (
            [] if place.same_text(expected, got) else place.mismatch(expected, got, partial(text_hint, expected, got))
        )
    if expected is None or isinstance(expected, bool):
        return [] if got is expected else place.mismatch(expected, got)
    if isinstance(expected, int | float):
        if is_number(got) and got == expected:
            return []
        return place.mismatch(expected, got, partial(number_hint, expected, got))
    if isinstance(expected, Mapping):
        return compare_object(expected, got, place)
    return compare_list(expected, got, place)


def compare_outside_calls(expected: Pattern, got: Json, path: ValuePath, context: MatchContext) -> list[Mismatch]:
    """Compare a value outside of calls, such as an answer or a result. Schemas and `match:` rules do not apply.

    Never raises.
    """
    place = _place_outside_calls(path, context)
    try:
        return compare(expected, got, place)
    except RecursionError:
        return place.undecided(None, None, TOO_DEEP)


def compare_attributes(
    expected: Mapping[str, Pattern], got: Json, path: ValuePath, context: MatchContext
) -> list[Mismatch]:
    """Compare an object outside of calls, which may have more keys than are expected. Never raises."""
    place = _place_outside_calls(path, context)
    try:
        return compare_named(expected, got, place) if isinstance(got, Mapping) else compare(expected, got, place)
    except RecursionError:
        return place.undecided(None, None, TOO_DEEP)


def _place_outside_calls(path: ValuePath, context: MatchContext) -> Place:
    rules = context.rules_outside_calls
    return Place(CallContext("", None, rules, context.comparators, compare), path, rules.strings)


def judge_value(
    expected: Pattern, got: Json, kind: ReasonKind, path: ValuePath, context: MatchContext
) -> tuple[Reason, ...]:
    """Judge a value outside of calls: every mismatch becomes a reason of this kind."""
    return tuple(each.as_reason(kind) for each in compare_outside_calls(expected, got, path, context))
