"""A formula of one number, as `lambda x: 3*x**2 + 2*x - 1`: worked out, and not evaluated."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from pytest_fcall.core.arithmetic import Incalculable, Number, combined, signed


def formula_of(source: str) -> Callable[[float], Any]:
    """Read a formula. Raises ValueError, or SyntaxError, where it is none, or more than arithmetic."""
    node = ast.parse(source.strip(), "<string>", "eval").body
    match node:
        case ast.Lambda(ast.arguments([], [ast.arg(name)], None, [], [], None, []), body):
            return lambda number: _worked_out(body, name, number)
    raise Incalculable("it is no lambda of one number")


def _worked_out(node: ast.expr, name: str, number: float) -> Number:
    match node:
        case ast.Name(known) if known == name:
            return number
        case ast.Constant(int() | float() as constant) if not isinstance(constant, bool):
            return constant
        case ast.BinOp(left, sign, right):
            return combined(sign, _worked_out(left, name, number), _worked_out(right, name, number))
        case ast.UnaryOp(sign, operand):
            return signed(sign, _worked_out(operand, name, number))
    raise Incalculable(f"it is no arithmetic on one number: {ast.unparse(node)[:100]}")
