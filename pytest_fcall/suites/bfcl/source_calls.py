"""Calls in the form of Python source, executed without evaluating the source."""

from __future__ import annotations

import ast
import json
import operator
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from pytest_fcall.core.arithmetic import apply_operator
from pytest_fcall.suites.bfcl.world import methods_of

FindCallee: TypeAlias = Callable[[ast.expr], Callable[..., object]]
"""Returns the function that an expression names; raises `unknown_name` for anything else."""

_UNARY: Final[Mapping[type, Callable[[Any], object]]] = MappingProxyType(
    {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_, ast.Invert: operator.invert}
)


def execute_source(source: str, callee: FindCallee) -> object:
    """Execute a call. Its arguments may be literals, results of other calls, and arithmetic on numbers.

    Errors of the function rise. Any other source raises ValueError, NameError or SyntaxError.
    """
    return _value(ast.parse(source.lstrip(" \t"), "<string>", "eval").body, callee)


def unknown_name(callee: ast.expr) -> NameError:
    """Return the error that Python raises for an unknown name."""
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
    raise ValueError(f"only calls with literal arguments are executed, not {ast.unparse(node)[:200]}")


def _combined(sign: ast.operator, left: object, right: object) -> object:
    if isinstance(left, int | float) and isinstance(right, int | float):
        return apply_operator(sign, left, right)
    raise ValueError("arithmetic takes numbers only")


_NOT_ALLOWED: Final = frozenset({"kill", "exit", "quit", "remove", "unlink", "popen", "Popen", "run"})
_CALLED_NAME: Final = re.compile(r"\b([a-zA-Z_]\w*)\s*(?=\()")


class OfficialCaller:
    """Calls methods of the leaderboard's classes by source text.

    The official checker evaluates any text. Here the text must be a method call with literal arguments; anything else
    is an error. As in the official checker, the text is changed first: whatever looks like a call of a method, also
    inside strings, gets the `owner` before it, and loses the blanks before its bracket.
    """

    def __init__(self, owner: str, instances: Mapping[str, object]) -> None:
        self.instances = instances
        self._methods = {f"{owner}_{name}_instance": methods_of(each) for name, each in self.instances.items()}
        self._owners = {method: name for name, methods in self._methods.items() for method in methods}

    def tools(self) -> dict[str, Callable[..., str]]:
        """Return all methods as functions with text as result, by their names."""
        return {name: self._tool(name) for name in self._owners}

    def _tool(self, name: str) -> Callable[..., str]:
        return lambda **arguments: self.run(official_call_source(name, arguments))

    def run(self, source: str) -> str:
        """Execute a call, and return its result or error as the official harness writes it."""
        try:
            return _result_text(self._called(_CALLED_NAME.sub(self._with_owner, source)))
        except Exception as error:  # any error of a method is its result
            return f"Error during execution: {error}"

    def _with_owner(self, found: re.Match[str]) -> str:
        name = found[1]
        return f"{self._owners[name]}.{name}" if name in self._owners else name

    def _called(self, source: str) -> object:
        callee, _, _ = source.partition("(")
        name = callee.split(".")[1] if "." in callee else callee
        if name in _NOT_ALLOWED:
            raise ValueError(f"Function call {name} is not allowed.")
        return execute_source(source, self._method)

    def _method(self, callee: ast.expr) -> Callable[..., object]:
        match callee:
            case ast.Attribute(ast.Name(owner), name) if name in self._methods.get(owner, {}):
                return self._methods[owner][name]
        raise unknown_name(callee)


def official_call_source(name: object, arguments: Mapping[Any, object]) -> str:
    """Return a native call as the source that the official harness makes of it."""
    return f"{name}({','.join(f'{key}={value!r}' for key, value in arguments.items())})"


def _result_text(result: object) -> str:
    """The result as the model gets it."""
    if type(result) is dict:
        try:
            return json.dumps(result)
        except Exception:  # it holds an object that is not JSON
            return str(result)
    return str(result)
