"""Arithmetic on plain values, and how much of it there may be."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from pytest_fcall.conversation.program.parsing import DEEPEST, Malformed

_MOST: Final = 100_000
"""Steps, and items or characters of the values made on the way, in one program."""
_MOST_BITS: Final = 1_000
"""Of a whole number."""

_SIGNS: Mapping[type[ast.unaryop], Callable[[Any], Any]] = MappingProxyType(
    {ast.UAdd: operator.pos, ast.USub: operator.neg}
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
    }
)


class Budget:
    """What is left of the steps of a program."""

    def __init__(self) -> None:
        self._left = _MOST

    def spend(self, steps: int) -> None:
        """Take steps off; Malformed where there are no more."""
        self._left -= steps
        if self._left < 0:
            raise Malformed(f"it takes more than {_MOST:,} steps")

    def bounded(self, value: object, depth: int = 0) -> object:
        """Give the value back, and spend as many steps as it has characters and items, on all levels."""
        if depth > DEEPEST:
            raise Malformed(f"a value of it is nested more than {DEEPEST} levels deep")
        match value:
            case str():
                self.spend(len(value))
            case int() if value.bit_length() > _MOST_BITS:
                raise Malformed("it holds a whole number of hundreds of digits")
            case list() | tuple():
                self.spend(len(value))
                for item in value:
                    self.bounded(item, depth + 1)
            case dict():
                self.spend(len(value))
                for item in value.values():
                    self.bounded(item, depth + 1)
        return value


def signed(sign: ast.unaryop, value: object) -> object:
    """Apply a sign to a number."""
    if not _is_number(value):
        raise Malformed("a sign stands before what is no number")
    return _SIGNS[type(sign)](value)


def combined(sign: ast.operator, left: object, right: object, budget: Budget) -> object:
    """Apply an operator to numbers, or join strings or lists with `+`."""
    joined = isinstance(sign, ast.Add) and type(left) is type(right) and isinstance(left, str | list | tuple)
    if not (joined or (_is_number(left) and _is_number(right))):
        raise Malformed("an operator stands between values that are no numbers")
    if isinstance(sign, ast.Pow) and isinstance(left, int) and isinstance(right, int):
        _check_power(left, right)
    try:
        result = _OPERATORS[type(sign)](left, right)
    except ArithmeticError as error:
        raise Malformed(f"it cannot be worked out: {error}") from None
    if isinstance(result, complex):
        raise Malformed("it cannot be worked out: a root of a negative number")
    return budget.bounded(result)


def _check_power(base: int, exponent: int) -> None:
    if max(base.bit_length(), 1) * exponent > _MOST_BITS:
        raise Malformed("it holds a whole number of hundreds of digits")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)
