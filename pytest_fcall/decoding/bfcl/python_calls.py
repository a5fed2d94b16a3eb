"""Calls written in Python, as the official decoder reads them: only what is given by name, and names as their text.

The official decoder hands operators between literals to `eval`. Here numbers are worked out and sequences joined,
within bounds; names, calls and formatting in such an argument are undecodable.
"""

from __future__ import annotations

import ast
import operator
from typing import TypeAlias

from pytest_fcall.decoding.bfcl import ordinary_calls
from pytest_fcall.decoding.bfcl.official_form import Undecodable
from pytest_fcall.decoding.python.literals import apply_operator, apply_sign
from pytest_fcall.decoding.python.source import NotPython, parse_expression

LiteralSequence: TypeAlias = str | bytes | list[object] | tuple[object, ...]

_MAX_LENGTH = 100_000


class LiteralEvaluation:
    """Works out the operators of one text, which make at most `_MOST` items and characters in all."""

    def __init__(self) -> None:
        self._left = _MAX_LENGTH

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
                return apply_operator(sign, left, right)
            case ast.Mult(), str() | bytes() | list() | tuple(), int():
                return self._repeated(left, right)
            case ast.Mult(), int(), str() | bytes() | list() | tuple():
                return self._repeated(right, left)
            case ast.Add(), str() | bytes() | list() | tuple(), _:
                return self._joined(left, right)
        raise Undecodable(_NO_OPERATOR)

    def _repeated(self, items: LiteralSequence, times: int) -> LiteralSequence:
        # Repeating lists of lists would grow without bound, level by level.
        if times > 1 and any(isinstance(item, list | tuple | dict) for item in items):
            raise Undecodable(_TOO_LONG)
        self._spend(len(items) * max(times, 0))
        return items * max(times, 0)

    def _joined(self, left: LiteralSequence, right: object) -> object:
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
        return apply_sign(sign, value)
    raise Undecodable(_NO_OPERATOR)


_NO_OPERATOR = "an argument holds an operator between values that it is not worked out for"
_TOO_LONG = "an argument would grow too long when worked out"


Decoded = list[dict[object, object]]

_MAX_DEPTH = 200
"""Python itself reads no more brackets within one another."""


def decode_python(text: str) -> Decoded:
    """Read one call, or a sequence of nothing else."""
    calls = ordinary_calls.read(text)
    return parse_python_calls(text) if calls is None else calls


def parse_python_calls(text: str) -> Decoded:
    """Read the calls by Python's own parser."""
    work = LiteralEvaluation()
    try:
        return [_call(node, work) for node in _items(parse_expression(text, deepest=_MAX_DEPTH))]
    except NotPython as error:
        raise Undecodable(f"it is not Python: {error}") from None
    except RecursionError:
        raise Undecodable("it is nested too deep") from None
    except (TypeError, ValueError) as error:  # a list as a key; a number too long to be written down
        raise Undecodable(str(error)) from None


def _items(tree: ast.expr) -> list[ast.Call]:
    nodes = tree.elts if isinstance(tree, ast.List | ast.Tuple | ast.Set) else [tree]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    if len(calls) < len(nodes):
        raise Undecodable("it holds something else than calls")
    return calls


def _call(node: ast.Call, work: LiteralEvaluation) -> dict[object, object]:
    return {_name(node.func): {keyword.arg: _value(keyword.value, work) for keyword in node.keywords}}


def _name(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _value(node: ast.expr | None, work: LiteralEvaluation) -> object:
    match node:
        case ast.Constant(value=value):
            return "..." if value is ... else value
        case ast.List(elts=items):
            return [_value(item, work) for item in items]
        case ast.Tuple(elts=items):
            return tuple([_value(item, work) for item in items])
        case ast.Dict(keys=keys, values=values):
            return {_value(key, work): _value(value, work) for key, value in zip(keys, values, strict=True)}
        case ast.UnaryOp(operand=ast.Constant(value=int() | float() | complex() as number)):
            return -number  # whatever the sign was
        case ast.BinOp():
            return work.value(node)
        case ast.Call(keywords=[_, *_]):
            return _call(node, work)
    return _text(node)


def _text(node: ast.expr | None) -> str:
    """Give what stands in the place of a value, in Python's own spelling."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Call():
            return ast.unparse(node)
        case ast.Subscript(value=value, slice=place):
            return f"{ast.unparse(value)}[{ast.unparse(place)}]"
    raise Undecodable(f"an argument is a {type(node).__name__}")
