"""Arithmetic on the numbers in what models write, within bounds. Nothing else of it is ever worked out."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

Number: TypeAlias = "int | float | complex"

MOST_BITS: Final = 14_000
"""Of a whole number: about as many digits as Python reads and writes."""
TOO_LONG: Final = "it holds a whole number of thousands of digits"


class Incalculable(ValueError):
    """There is no result, or none within bounds. Says why, without a full stop."""


def signed(sign: ast.unaryop, number: Number) -> Number:
    """Apply a sign."""
    return _apply(_SIGNS.get(type(sign)), number)


def combined(sign: ast.operator, left: Number, right: Number) -> Number:
    """Apply an operator to two numbers of at most `MOST_BITS`."""
    if isinstance(left, int) and isinstance(right, int):
        bits = {
            ast.Pow: max(left.bit_length(), 1) * max(right, 0),
            ast.LShift: left.bit_length() + max(right, 0),
        }.get(type(sign), 0)
        if bits > MOST_BITS:
            raise Incalculable(TOO_LONG)
    return _apply(_OPERATORS.get(type(sign)), left, right)


def bounded(number: Number) -> Number:
    """Give the number back; Incalculable where it is a whole one of more than `MOST_BITS`."""
    if isinstance(number, int) and number.bit_length() > MOST_BITS:
        raise Incalculable(TOO_LONG)
    return number


def _apply(work: Callable[..., Any] | None, *numbers: Number) -> Number:
    if work is None:
        raise Incalculable("it is no arithmetic on numbers")
    try:
        return bounded(work(*numbers))
    except Incalculable:
        raise
    except (ArithmeticError, TypeError, ValueError) as error:
        raise Incalculable(f"it cannot be worked out: {error}") from None


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
