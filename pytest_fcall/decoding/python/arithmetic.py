"""Arithmetic on literals, within bounds. Nothing else is ever worked out."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from pytest_fcall.decoding.limits import MOST_BITS, TOO_LONG
from pytest_fcall.decoding.python.source import NotPython

Number: TypeAlias = "int | float | complex"


def number_of(node: ast.expr) -> Number:
    """Work out signs and operators between numeric literals; anything else raises NotPython."""
    match node:
        case ast.Constant(value=int() | float() | complex() as number) if not isinstance(number, bool):
            return _bounded(number)
        case ast.UnaryOp(op=ast.UAdd() | ast.USub() | ast.Invert() as sign, operand=operand):
            return signed(sign, number_of(operand))
        case ast.BinOp(left=left, op=sign, right=right):
            return combined(sign, number_of(left), number_of(right))
    raise NotPython("it is no arithmetic on numbers")


def signed(sign: ast.unaryop, number: Number) -> Number:
    """Apply a sign."""
    return _apply(_SIGNS[type(sign)], number)


def combined(sign: ast.operator, left: Number, right: Number) -> Number:
    """Apply an operator to two numbers of at most `MOST_BITS`."""
    if (work := _OPERATORS.get(type(sign))) is None:
        raise NotPython("it is no arithmetic on numbers")
    if isinstance(left, int) and isinstance(right, int):
        bits = {
            ast.Pow: max(left.bit_length(), 1) * max(right, 0),
            ast.LShift: left.bit_length() + max(right, 0),
        }.get(type(sign), 0)
        if bits > MOST_BITS:
            raise NotPython(TOO_LONG)
    return _apply(work, left, right)


def _apply(work: Callable[..., Any], *numbers: Number) -> Number:
    try:
        return _bounded(work(*numbers))
    except (ArithmeticError, TypeError, ValueError) as error:
        raise NotPython(f"it cannot be worked out: {error}") from None


def _bounded(number: Number) -> Number:
    if isinstance(number, int) and number.bit_length() > MOST_BITS:
        raise NotPython(TOO_LONG)
    return number


_SIGNS: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
}
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
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
