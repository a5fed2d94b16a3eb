"""The operand of an operator, checked for its type.

Operands from case files have been checked before; those of an expectation built in Python have not.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.matching.place import is_list, is_number


class BadOperandError(ValueError):
    """An operand or option cannot be used; the text says what the operator takes."""


def operand_patterns(operator: Operator) -> Sequence[Pattern]:
    """The operand as a list of patterns."""
    if is_list(operator.operand):
        return operator.operand
    raise BadOperandError(f"`${operator.name}` takes a list")


def operand_text(operator: Operator) -> str:
    """The operand as a string."""
    if isinstance(operator.operand, str):
        return operator.operand
    raise BadOperandError(f"`${operator.name}` takes a string")


def operand_number(operator: Operator) -> int | float:
    """The operand as a number."""
    if is_number(operator.operand):
        return operator.operand
    raise BadOperandError(f"`${operator.name}` takes a number")
