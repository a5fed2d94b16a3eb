"""What stands behind an operator, taken apart.

The reader of case files has checked it; an expectation built in Python may hold anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from pytest_fcall.core.operators import Operator, Pattern


class BadOperandError(ValueError):
    """The text says what the operator takes."""


def operand_patterns(operator: Operator) -> Sequence[Pattern]:
    """Give the operand as a list of patterns."""
    if is_list(operator.operand):
        return operator.operand
    raise BadOperandError(f"`${operator.name}` takes a list")


def operand_text(operator: Operator) -> str:
    """Give the operand as a string."""
    if isinstance(operator.operand, str):
        return operator.operand
    raise BadOperandError(f"`${operator.name}` takes a string")


def operand_number(operator: Operator) -> int | float:
    """Give the operand as a number."""
    if is_number(operator.operand):
        return operator.operand
    raise BadOperandError(f"`${operator.name}` takes a number")


def is_number(value: Pattern) -> TypeGuard[int | float]:
    """Whether this is a number; a boolean is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_list(value: Pattern) -> TypeGuard[Sequence[Pattern]]:
    """Whether this is a list."""
    return isinstance(value, list | tuple)
