"""What Python would make of operators between literals.

The official decoder hands such arguments to `eval`. Here numbers are worked out and sequences joined, within
bounds; names, calls and formatting are undecodable.
"""

from __future__ import annotations

import ast

from pytest_fcall.decoding.bfcl.undecodable import Undecodable
from pytest_fcall.decoding.python.arithmetic import combined, signed

_LONGEST = 5_000
"""Items or characters of a sequence that operators make."""


def evaluated(node: ast.expr) -> object:
    """Give the value of literals and of operators between them; NotPython where Python would not go on either."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.List(elts=items):
            return [evaluated(item) for item in items]
        case ast.Tuple(elts=items):
            return tuple([evaluated(item) for item in items])
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return {evaluated(key): evaluated(value) for key, value in zip(keys, values, strict=True) if key}
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not evaluated(operand)
        case ast.UnaryOp(op=sign, operand=operand) if isinstance(number := evaluated(operand), int | float | complex):
            return signed(sign, number)
        case ast.BinOp(left=left, op=sign, right=right):
            return _combined(sign, evaluated(left), evaluated(right))
    raise Undecodable(f"an argument would have to be run ({type(node).__name__})")


def _combined(sign: ast.operator, left: object, right: object) -> object:
    match sign, left, right:
        case _, int() | float() | complex(), int() | float() | complex():
            return combined(sign, left, right)
        case ast.Add(), str(), str():
            return _bounded(left + right)
        case ast.Add(), bytes(), bytes():
            return _bounded(left + right)
        case ast.Add(), list(), list():
            return _bounded(left + right)
        case ast.Add(), tuple(), tuple():
            return _bounded(left + right)
        case ast.Mult(), str() | bytes() | list() | tuple(), int():
            return _repeated(left, right)
        case ast.Mult(), int(), str() | bytes() | list() | tuple():
            return _repeated(right, left)
    raise Undecodable("an argument holds an operator between values that it is not worked out for")


Sequence = str | bytes | list[object] | tuple[object, ...]


def _repeated(items: Sequence, times: int) -> Sequence:
    # Repeating lists of lists would grow without bound, level by level.
    nested = any(isinstance(item, list | tuple | dict) for item in items)
    if times > 1 and (nested or len(items) * times > _LONGEST):
        raise Undecodable(_TOO_LONG)
    return items * max(times, 0)


def _bounded(items: Sequence) -> Sequence:
    if len(items) > _LONGEST:
        raise Undecodable(_TOO_LONG)
    return items


_TOO_LONG = "an argument would grow too long when worked out"
