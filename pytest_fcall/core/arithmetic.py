"""Bounded arithmetic on the numbers in text from models."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from pytest_fcall.core.values import HUGE_INTEGER, MAX_INTEGER_BITS

Number: TypeAlias = "int | float | complex"

_SIGNS: Mapping[type[ast.unaryop], Callable[[Any], Any]] = MappingProxyType(
    {
        ast.UAdd: operator.pos,
        ast.USub: operator.neg,
        ast.Invert: operator.invert,
    }
)
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
        ast.Pow: operator.pow,
        ast.LShift: operator.lshift,
        ast.RShift: operator.rshift,
        ast.BitAnd: operator.and_,
        ast.BitOr: operator.or_,
        ast.BitXor: operator.xor,
    }
)


class Incalculable(ValueError):
    """Arithmetic has no result within the limits. The message is a clause without a full stop."""


def apply_sign(sign: ast.unaryop, number: Number) -> Number:
    """Apply a sign. Raises Incalculable."""
    return _apply(_SIGNS.get(type(sign)), number)


def apply_operator(operator: ast.operator, left: Number, right: Number) -> Number:
    """Apply an operator to two numbers of at most `MAX_INTEGER_BITS`. Raises Incalculable."""
    if isinstance(left, int) and isinstance(right, int):
        bits = {
            ast.Pow: max(left.bit_length(), 1) * max(right, 0),
            ast.LShift: left.bit_length() + max(right, 0),
        }.get(type(operator), 0)
        if bits > MAX_INTEGER_BITS:
            raise Incalculable(HUGE_INTEGER)
    return _apply(_OPERATORS.get(type(operator)), left, right)


def checked_size(number: Number) -> Number:
    """Return the number. Raises Incalculable for an integer of more than `MAX_INTEGER_BITS`."""
    if isinstance(number, int) and number.bit_length() > MAX_INTEGER_BITS:
        raise Incalculable(HUGE_INTEGER)
    return number


def _apply(function: Callable[..., Any] | None, *numbers: Number) -> Number:
    if function is None:
        raise Incalculable("it is not arithmetic on numbers")
    try:
        return checked_size(function(*numbers))
    except Incalculable:
        raise
    except (ArithmeticError, TypeError, ValueError) as error:
        raise Incalculable(f"it cannot be computed: {error}") from None
