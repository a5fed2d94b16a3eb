"""Arithmetic on numeric literals."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from pytest_fcall.core import arithmetic
from pytest_fcall.core.arithmetic import Incalculable, Number
from pytest_fcall.decoding.python.source import NotPython


def number_of(node: ast.expr) -> Number:
    """Work out signs and operators between numeric literals; anything else raises NotPython."""
    match node:
        case ast.Constant(value=int() | float() | complex() as number) if not isinstance(number, bool):
            with _told():
                return arithmetic.bounded(number)
        case ast.UnaryOp(op=sign, operand=operand):
            return signed(sign, number_of(operand))
        case ast.BinOp(left=left, op=sign, right=right):
            return combined(sign, number_of(left), number_of(right))
    raise NotPython("it is no arithmetic on numbers")


def signed(sign: ast.unaryop, number: Number) -> Number:
    """Apply a sign."""
    with _told():
        return arithmetic.signed(sign, number)


def combined(sign: ast.operator, left: Number, right: Number) -> Number:
    """Apply an operator."""
    with _told():
        return arithmetic.combined(sign, left, right)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except Incalculable as error:
        raise NotPython(str(error)) from None
