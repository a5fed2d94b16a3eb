"""Operators on numbers: `$approx`, `$gt`, `$ge`, `$lt`, `$le`, `$between`."""

from __future__ import annotations

import math
import operator as arithmetic
from collections.abc import Callable
from decimal import Decimal, InvalidOperation, Overflow

from pytest_fcall.core.operators import MOST_DIGITS, Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.matching.operators.table import BadOperandError, operand_number, operand_patterns
from pytest_fcall.matching.place import Mismatch, Place, is_number

_DEFAULT_TOLERANCE = Decimal("1e-6")
"""The default tolerance of `$approx`, as a share of the expected number."""
_MAX_BITS = 4096
"""Integers with more bits are not compared exactly."""


def approx(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """A number within a tolerance, limits included, or one that is equal after rounding."""
    if "round" in operator.options:
        return _rounded(operator, got, place)
    expected = exact_decimal(operand_number(operator))
    if expected is None:
        raise BadOperandError("`$approx` takes a finite number")
    within = operator.options.get("within")
    margin = abs(expected) * _DEFAULT_TOLERANCE if within is None else tolerance_margin(within, expected)
    given = exact_decimal(got)
    return [] if given is not None and abs(given - expected) <= margin else place.mismatch(operator, got)


def _rounded(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    expected, digits = operand_number(operator), operator.options["round"]
    if "within" in operator.options:
        raise BadOperandError("`$approx` takes `within` or `round`, not both")
    if isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= MOST_DIGITS:
        raise BadOperandError(f"`round` takes a number of digits from 0 to {MOST_DIGITS}")
    same = is_number(got) and round(got, digits) == round(expected, digits)
    return [] if same else place.mismatch(operator, got)


def bound_operator(holds: Callable[[int | float, int | float], bool]) -> Callable[..., list[Mismatch]]:
    """The operator that compares a number with one bound."""

    def compare_with_bound(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
        return [] if is_number(got) and holds(got, operand_number(operator)) else place.mismatch(operator, got)

    return compare_with_bound


greater = bound_operator(arithmetic.gt)
at_least = bound_operator(arithmetic.ge)
less = bound_operator(arithmetic.lt)
at_most = bound_operator(arithmetic.le)


def between(operator: Operator, got: Json, place: Place) -> list[Mismatch]:
    """A number from low to high, both included."""
    match operand_patterns(operator):
        case [low, high] if is_number(low) and is_number(high):
            return [] if is_number(got) and low <= got <= high else place.mismatch(operator, got)
    raise BadOperandError("`$between` takes two numbers")


def exact_decimal(value: Pattern) -> Decimal | None:
    """The number as it is written in decimals, so that 42.095 is within 0.005 of 42.10; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Decimal(value) if value.bit_length() <= _MAX_BITS else None
    if isinstance(value, float) and math.isfinite(value):
        return Decimal(repr(value))
    return None


def tolerance_margin(within: Pattern, expected: Decimal) -> Decimal:
    """The largest allowed distance from a number: a percentage of it, or a number.

    Raises BadOperandError if `within` is neither.
    """
    if isinstance(within, str) and within.endswith("%"):
        try:
            share = abs(expected * Decimal(within[:-1].strip()) / 100)
        except (InvalidOperation, Overflow):
            share = Decimal("NaN")
        if share.is_finite():
            return share
    elif (margin := exact_decimal(within)) is not None:
        return abs(margin)
    raise BadOperandError("`within` takes a number or a percentage such as `10%`")
