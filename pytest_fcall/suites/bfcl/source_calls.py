"""Calls given as Python source, carried out without evaluating the source."""

from __future__ import annotations

import ast
import json
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from pytest_fcall.core.arithmetic import apply_operator
from pytest_fcall.suites.bfcl.world import methods_of

FindCallee: TypeAlias = Callable[[ast.expr], Callable[..., object]]
"""Finds what is called; raises NameError, as `unknown` words it, for anything else."""

_UNARY: Final[Mapping[type, Callable[[Any], object]]] = MappingProxyType(
    {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_, ast.Invert: operator.invert}
)


def carry_out_source(source: str, callee: FindCallee) -> object:
    """Call what the source calls. Arguments are literals, the results of other calls, and arithmetic on numbers.

    Whatever the callee raises rises; anything else that the source may say is a ValueError, NameError or SyntaxError.
    """
    return _value(ast.parse(source.lstrip(" \t"), "<string>", "eval").body, callee)


def unknown_name(callee: ast.expr) -> NameError:
    """What Python says of a name that is not there."""
    root = callee
    while isinstance(root, ast.Attribute | ast.Call | ast.Subscript):
        root = root.func if isinstance(root, ast.Call) else root.value
    return NameError(f"name {ast.unparse(root)[:200]!r} is not defined")


def _value(node: ast.expr, callee: FindCallee) -> object:
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
            return _UNARY[type(sign)](number)
        case ast.BinOp(left, sign, right):
            return _combined(sign, value(left), value(right))
        case ast.Call(name, positional, named) if all(each.arg for each in named):
            return callee(name)(*map(value, positional), **{str(each.arg): value(each.value) for each in named})
        case ast.Name(name):
            raise NameError(f"name {name!r} is not defined")
    raise ValueError(f"nothing but a call with literals is carried out, not {ast.unparse(node)[:200]}")


def _combined(sign: ast.operator, left: object, right: object) -> object:
    if isinstance(left, int | float) and isinstance(right, int | float):
        return apply_operator(sign, left, right)
    raise ValueError("nothing but numbers is reckoned with")


_NOT_ALLOWED: Final = frozenset({"kill", "exit", "quit", "remove", "unlink", "popen", "Popen", "run"})
_CALLED_NAME: Final = re.compile(r"\b([a-zA-Z_]\w*)\s*(?=\()")


class OfficialCaller:
    """Instances of the leaderboard's classes, by their names, whose methods are called by source text.

    The official checker evaluates the text, whatever it says. Here it may say one thing, a method with literals for
    arguments; anything else comes to an error. The text is changed before that, as it is officially: what looks like
    a call of a method gets the `owner` before it, and loses the space before its bracket, within strings, too.
    """

    def __init__(self, owner: str, instances: Mapping[str, object]) -> None:
        self.instances = instances
        self._methods = {f"{owner}_{name}_instance": methods_of(each) for name, each in self.instances.items()}
        self._owners = {method: name for name, methods in self._methods.items() for method in methods}

    @property
    def names(self) -> Sequence[str]:
        """Of all methods."""
        return [*self._owners]

    def result_of(self, source: str) -> str:
        """What a call comes to, in the official words."""
        try:
            return _result_text(self._called(_CALLED_NAME.sub(self._with_owner, source)))
        except Exception as error:  # whatever a method raises is its result
            return f"Error during execution: {error}"

    def _with_owner(self, found: re.Match[str]) -> str:
        name = found[1]
        return f"{self._owners[name]}.{name}" if name in self._owners else name

    def _called(self, source: str) -> object:
        callee, _, _ = source.partition("(")
        name = callee.split(".")[1] if "." in callee else callee
        if name in _NOT_ALLOWED:
            raise ValueError(f"Function call {name} is not allowed.")
        return carry_out_source(source, self._method)

    def _method(self, callee: ast.expr) -> Callable[..., object]:
        match callee:
            case ast.Attribute(ast.Name(owner), name) if name in self._methods.get(owner, {}):
                return self._methods[owner][name]
        raise unknown_name(callee)


def call_source(name: object, arguments: Mapping[Any, object]) -> str:
    """A native call as the source that the official harness makes of it."""
    return f"{name}({','.join(f'{key}={value!r}' for key, value in arguments.items())})"


def _result_text(result: object) -> str:
    """What a model is told of a result."""
    if type(result) is dict:
        try:
            return json.dumps(result)
        except Exception:  # there is an object in it
            return str(result)
    return str(result)
