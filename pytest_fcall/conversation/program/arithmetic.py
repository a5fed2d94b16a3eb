"""Arithmetic on plain values, and how much of them there may be."""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pytest_fcall.conversation.program.parsing import DEEPEST, Malformed
from pytest_fcall.core import arithmetic
from pytest_fcall.core.arithmetic import Incalculable

_MOST: Final = 100_000
"""Steps, and items or characters of the values made on the way, in one program."""


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
        if isinstance(value, str | list | tuple | dict):
            self.spend(len(value))
        if isinstance(value, list | tuple | dict):
            for item in value.values() if isinstance(value, dict) else value:
                self.bounded(item, depth + 1)
        return value


def signed(sign: ast.unaryop, value: object) -> object:
    """Apply a sign to a number."""
    if not isinstance(value, int | float):
        raise Malformed("a sign stands before what is no number")
    with _told():
        return arithmetic.signed(sign, value)


def combined(sign: ast.operator, left: object, right: object, budget: Budget) -> object:
    """Apply an operator to numbers, or join strings or lists with `+`."""
    if isinstance(left, int | float) and isinstance(right, int | float):
        with _told():
            return _real(arithmetic.combined(sign, left, right))
    if isinstance(sign, ast.Add) and type(left) is type(right) and isinstance(left, str | list | tuple):
        joined: object = operator.add(left, right)
        return budget.bounded(joined)
    raise Malformed("an operator stands between values that are no numbers")


def _real(number: arithmetic.Number) -> int | float:
    if isinstance(number, complex):
        raise Malformed("it cannot be worked out: a root of a negative number")
    return number


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except Incalculable as error:
        raise Malformed(str(error)) from None
