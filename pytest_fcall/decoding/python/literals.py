"""Values written as Python literals, including arithmetic on numbers, and the words of JSON, which models mix in."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain

from pytest_fcall.core import arithmetic
from pytest_fcall.core.arithmetic import Incalculable, Number
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.python_source import NotPython
from pytest_fcall.decoding.unreadable import repeated_key_notes, repeated_keys

_JSON_WORDS: Mapping[str, bool | None] = {"true": True, "false": False, "null": None}
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


def literal(node: ast.expr) -> Json:
    """Give the plain value of a literal. Tuples become lists; `true`, `false` and `null` are read as in JSON.

    Arithmetic on numeric literals is computed. Raises NotPython for any other expression, naming it.
    """
    match node:
        case ast.Constant(value=str() | bool() | None as value):
            return value
        case ast.Constant(value=int() | float()) | ast.UnaryOp() | ast.BinOp():
            return _finite_number(node)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [literal(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {_key(key): literal(value) for key, value in zip(keys, values, strict=True)}
        case ast.Name(id=name) if name in _JSON_WORDS:
            return _JSON_WORDS[name]
    raise NotPython(f"{_described(node)} is not a literal")


def repeated_dict_keys(node: ast.AST) -> tuple[str, ...]:
    """Notes on repeated keys of dicts. The last one counts, as in Python."""
    dicts = (each for each in ast.walk(node) if isinstance(each, ast.Dict))
    keys = ([key.value for key in each.keys if isinstance(key, ast.Constant)] for each in dicts)
    return repeated_key_notes("key", chain.from_iterable(repeated_keys(map(str, each)) for each in keys))


def apply_sign(sign: ast.unaryop, number: Number) -> Number:
    """Apply a sign. Raises NotPython where that is impossible or too large."""
    with _as_not_python():
        return arithmetic.apply_sign(sign, number)


def apply_operator(operator: ast.operator, left: Number, right: Number) -> Number:
    """Apply an operator. Raises NotPython where that is impossible or too large."""
    with _as_not_python():
        return arithmetic.apply_operator(operator, left, right)


@contextmanager
def _as_not_python() -> Iterator[None]:
    try:
        yield
    except Incalculable as error:
        raise NotPython(str(error)) from None


def _finite_number(node: ast.expr) -> int | float:
    number = _number(node)
    # An integer may be too large for `math.isfinite`.
    if not isinstance(number, int) and (isinstance(number, complex) or not math.isfinite(number)):
        raise NotPython(f"{number} is not a JSON number")
    return number


def _number(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() | complex() as number) if not isinstance(number, bool):
            with _as_not_python():
                return arithmetic.checked_size(number)
        case ast.UnaryOp(op=sign, operand=operand):
            return apply_sign(sign, _number(operand))
        case ast.BinOp(left=left, op=operator, right=right):
            return apply_operator(operator, _number(left), _number(right))
    raise NotPython("it is not arithmetic on numbers")


def _key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise NotPython("a key of a dict is not a string" if node else "a dict contains `**`")


def _described(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return f"the name {name[:40]!r}"
        case ast.Constant(value=value):
            return f"a value of type {type(value).__name__}"
        case _:
            return _NODE_NAMES.get(type(node), "an expression")
