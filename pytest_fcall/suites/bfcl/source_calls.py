"""Calls as Python source, carried out without being evaluated."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from pytest_fcall.core.arithmetic import combined

Callee: TypeAlias = Callable[[ast.expr], Callable[..., object]]
"""Finds what is called; raises NameError, as `unknown` words it, for anything else."""

_SIGNS: Final[Mapping[type, Callable[[Any], object]]] = MappingProxyType(
    {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_, ast.Invert: operator.invert}
)


def called(source: str, callee: Callee) -> object:
    """Call what the source calls. Arguments are literals, the results of other calls, and arithmetic on numbers.

    Whatever the callee raises rises; anything else that the source may say is a ValueError, NameError or SyntaxError.
    """
    return _value(ast.parse(source.lstrip(" \t"), "<string>", "eval").body, callee)


def unknown(callee: ast.expr) -> NameError:
    """What Python says of a name that is not there."""
    root = callee
    while isinstance(root, ast.Attribute | ast.Call | ast.Subscript):
        root = root.func if isinstance(root, ast.Call) else root.value
    return NameError(f"name {ast.unparse(root)[:200]!r} is not defined")


def _value(node: ast.expr, callee: Callee) -> object:
    def value(inner: ast.expr) -> object:
        return _value(inner, callee)

    match node:
        case ast.Constant(constant):
            return constant
        case ast.List(items):
            return [*map(value, items)]
        case ast.Tuple(items):
            return tuple(map(value, items))
        case ast.Dict(keys, values) if all(keys):
            return {value(key): value(each) for key, each in zip(keys, values, strict=True) if key}
        case ast.UnaryOp(sign, ast.Constant(int() | float() as number)):
            return _SIGNS[type(sign)](number)
        case ast.BinOp(left, sign, right):
            return _combined(sign, value(left), value(right))
        case ast.Call(name, positional, named) if all(each.arg for each in named):
            return callee(name)(*map(value, positional), **{str(each.arg): value(each.value) for each in named})
        case ast.Name(name):
            raise NameError(f"name {name!r} is not defined")
    raise ValueError(f"nothing but a call with literals is carried out, not {ast.unparse(node)[:200]}")


def _combined(sign: ast.operator, left: object, right: object) -> object:
    if isinstance(left, int | float) and isinstance(right, int | float):
        return combined(sign, left, right)
    raise ValueError("nothing but numbers is reckoned with")
