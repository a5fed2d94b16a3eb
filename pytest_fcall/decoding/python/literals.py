"""Values written as Python literals, with arithmetic on numbers, and as JSON's, which models mix up."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain

from pytest_fcall.core import arithmetic
from pytest_fcall.core.arithmetic import Incalculable, Number
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.python.source import NotPython
from pytest_fcall.decoding.unreadable import repeated_key_notes, repeated_keys


def number_of(node: ast.expr) -> Number:
    """Work out signs and operators between numeric literals; anything else raises NotPython."""
    match node:
        case ast.Constant(value=int() | float() | complex() as number) if not isinstance(number, bool):
            with _as_not_python():
                return arithmetic.bounded(number)
        case ast.UnaryOp(op=sign, operand=operand):
            return apply_sign(sign, number_of(operand))
        case ast.BinOp(left=left, op=sign, right=right):
            return apply_operator(sign, number_of(left), number_of(right))
    raise NotPython("it is no arithmetic on numbers")


def apply_sign(sign: ast.unaryop, number: Number) -> Number:
    """Apply a sign."""
    with _as_not_python():
        return arithmetic.signed(sign, number)


def apply_operator(sign: ast.operator, left: Number, right: Number) -> Number:
    """Apply an operator."""
    with _as_not_python():
        return arithmetic.combined(sign, left, right)


@contextmanager
def _as_not_python() -> Iterator[None]:
    try:
        yield
    except Incalculable as error:
        raise NotPython(str(error)) from None


def literal(node: ast.expr) -> Json:
    """Give the plain value of a literal: tuples are lists, `true`, `false` and `null` are what JSON means by them.

    Arithmetic on numeric literals is worked out. Anything else raises NotPython, which says what stands there.
    """
    match node:
        case ast.Constant(value=str() | bool() | None as value):
            return value
        case ast.Constant(value=int() | float()) | ast.UnaryOp() | ast.BinOp():
            return _finite(node)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [literal(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {_key(key): literal(value) for key, value in zip(keys, values, strict=True)}
        case ast.Name(id=name) if name in _JSON_NAMES:
            return _JSON_NAMES[name]
    raise NotPython(f"{_described(node)} is no literal")


def repeated_dict_keys(node: ast.AST) -> tuple[str, ...]:
    """Notes on keys that stand twice in a dict, of which Python, too, takes the last."""
    dicts = (each for each in ast.walk(node) if isinstance(each, ast.Dict))
    keys = ([key.value for key in each.keys if isinstance(key, ast.Constant)] for each in dicts)
    return repeated_key_notes("key", chain.from_iterable(repeated_keys(map(str, each)) for each in keys))


_JSON_NAMES: Mapping[str, bool | None] = {"true": True, "false": False, "null": None}


def _finite(node: ast.expr) -> int | float:
    number = number_of(node)
    # An integer may be too large to be asked whether it is finite.
    if not isinstance(number, int) and (isinstance(number, complex) or not math.isfinite(number)):
        raise NotPython(f"{number} is no number that JSON can say")
    return number


def _key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise NotPython("a key that is no string" if node else "`**` in a dict")


def _described(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return f"the name {name[:40]!r}"
        case ast.Constant(value=value):
            return f"a value of type {type(value).__name__}"
        case _:
            return _NODE_NAMES.get(type(node), "an expression")


_NODE_NAMES: Mapping[type[ast.expr], str] = {
    ast.Call: "a call",
    ast.Attribute: "an attribute",
    ast.Subscript: "a part of another value",
    ast.Set: "a set",
    ast.JoinedStr: "an f-string",
    ast.Lambda: "a function",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
}
