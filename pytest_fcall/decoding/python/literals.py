"""Values written as Python literals, and as JSON's, which models mix up."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from itertools import chain

from pytest_fcall.core.values import Json
from pytest_fcall.decoding.python.arithmetic import number_of
from pytest_fcall.decoding.python.source import NotPython
from pytest_fcall.decoding.wording import repeated, stand_twice


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


def doubled_keys(node: ast.AST) -> tuple[str, ...]:
    """Notes on keys that stand twice in a dict, of which Python, too, takes the last."""
    dicts = (each for each in ast.walk(node) if isinstance(each, ast.Dict))
    keys = ([key.value for key in each.keys if isinstance(key, ast.Constant)] for each in dicts)
    return stand_twice("key", chain.from_iterable(repeated(map(str, each)) for each in keys))


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
            return _WORDS.get(type(node), "an expression")


_WORDS: Mapping[type[ast.expr], str] = {
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
