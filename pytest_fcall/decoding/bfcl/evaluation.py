"""What Python would make of operators between literals.

The official decoder hands such arguments to `eval`. Here numbers are worked out and sequences joined, within
bounds; names, calls and formatting are undecodable.
"""

from __future__ import annotations

import ast
import operator
from typing import TypeAlias

from pytest_fcall.decoding.bfcl.undecodable import Undecodable
from pytest_fcall.decoding.python.arithmetic import combined, signed

Sequence: TypeAlias = str | bytes | list[object] | tuple[object, ...]

_MOST = 100_000


class Evaluation:
    """Works out the operators of one text, which make at most `_MOST` items and characters in all."""

    def __init__(self) -> None:
        self._left = _MOST

    def value(self, node: ast.expr) -> object:
        """Give the value of literals and of operators between them; NotPython where Python would fail, too."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.List(elts=items):
                return [self.value(item) for item in items]
            case ast.Tuple(elts=items):
                return tuple([self.value(item) for item in items])
            case ast.Dict(keys=keys, values=values) if None not in keys:
                return {self.value(key): self.value(value) for key, value in zip(keys, values, strict=True) if key}
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.value(operand)
            case ast.UnaryOp(op=sign, operand=operand):
                return _signed(sign, self.value(operand))
            case ast.BinOp(left=left, op=sign, right=right):
                return self._combined(sign, self.value(left), self.value(right))
        raise Undecodable(f"an argument would have to be run ({type(node).__name__})")

    def _combined(self, sign: ast.operator, left: object, right: object) -> object:
        match sign, left, right:
            case _, int() | float() | complex(), int() | float() | complex():
                return combined(sign, left, right)
            case ast.Mult(), str() | bytes() | list() | tuple(), int():
                return self._repeated(left, right)
            case ast.Mult(), int(), str() | bytes() | list() | tuple():
                return self._repeated(right, left)
            case ast.Add(), str() | bytes() | list() | tuple(), _:
                return self._joined(left, right)
        raise Undecodable(_NO_OPERATOR)

    def _repeated(self, items: Sequence, times: int) -> Sequence:
        # Repeating lists of lists would grow without bound, level by level.
        if times > 1 and any(isinstance(item, list | tuple | dict) for item in items):
            raise Undecodable(_TOO_LONG)
        self._spend(len(items) * max(times, 0))
        return items * max(times, 0)

    def _joined(self, left: Sequence, right: object) -> object:
        if type(left) is not type(right):
            raise Undecodable(_NO_OPERATOR)
        self._spend(len(left))
        joined: object = operator.add(left, right)
        return joined

    def _spend(self, length: int) -> None:
        self._left -= length
        if self._left < 0:
            raise Undecodable(_TOO_LONG)


def _signed(sign: ast.unaryop, value: object) -> object:
    if isinstance(value, int | float | complex):
        return signed(sign, value)
    raise Undecodable(_NO_OPERATOR)


_NO_OPERATOR = "an argument holds an operator between values that it is not worked out for"
_TOO_LONG = "an argument would grow too long when worked out"
