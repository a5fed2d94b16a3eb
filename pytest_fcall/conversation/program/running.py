"""Carrying a program out, step by step: whoever runs it answers its calls."""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pytest_fcall.conversation.program.arithmetic import Budget, combined, signed
from pytest_fcall.conversation.program.parsing import Malformed, dotted, place, statements


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that a program makes. Its arguments are plain values, or what earlier calls gave."""

    name: str
    positional: tuple[object, ...]
    named: Mapping[str, object]


Steps: TypeAlias = Generator[Asked, object, dict[str, object]]
_Value: TypeAlias = Generator[Asked, object, object]


def steps(source: str) -> Steps:
    """Carry a program out: yields its calls, is sent what they give, and returns the variables in the end.

    Malformed is raised before the first call where a kind of statement or expression stands in the program that is
    never carried out, such as a loop; and on the way for all else: a variable that was never set, a division by zero, a
    value too large. What a call gives is handed on as it is, and never looked into.
    """
    return _Program().run(statements(source))


def carry_out(source: str, call: Callable[[Asked], object]) -> dict[str, object]:
    """Carry a program out, with a function that answers its calls; give the variables. Raises as `steps` does."""
    running = steps(source)
    given: object = None
    while True:
        try:
            asked = running.send(given)
        except StopIteration as end:
            variables: dict[str, object] = end.value
            return variables
        given = call(asked)


class _Program:
    def __init__(self) -> None:
        self._variables: dict[str, object] = {}
        self._budget = Budget()

    def run(self, body: list[ast.stmt]) -> Steps:
        for statement in body:
            match statement:
                case ast.Assign(targets=targets, value=value):
                    names = [_variable(target) for target in targets]
                    result = yield from self._value(value)
                    self._variables |= dict.fromkeys(names, result)
                case ast.AugAssign(target=target, op=sign, value=value):
                    name = _variable(target)
                    before = self._looked_up(name, target)
                    if isinstance(before, list):  # which other variables may hold, too
                        raise Malformed(f"a list is changed in place{place(target)}")
                    change = yield from self._value(value)
                    self._variables[name] = combined(sign, before, change, self._budget)
                case ast.Expr(value=ast.Call() | ast.Constant() as value):
                    yield from self._value(value)
                case ast.Expr():
                    raise Malformed(f"it says something that does nothing{place(statement)}")
        return self._variables

    def _value(self, node: ast.expr) -> _Value:
        self._budget.spend(1)
        match node:
            case ast.Constant(value=str() | bool() | int() | float() | None as value):
                return self._budget.bounded(value)
            case ast.Name(id=name):
                return self._looked_up(name, node)
            case ast.List(elts=items):
                return self._budget.bounded((yield from self._values(items)))
            case ast.Tuple(elts=items):
                return self._budget.bounded(tuple((yield from self._values(items))))
            case ast.Dict():
                return (yield from self._mapping(node))
            case ast.UnaryOp(op=sign, operand=operand):
                return signed(sign, (yield from self._value(operand)))
            case ast.BinOp(left=left, op=operator, right=right):
                first = yield from self._value(left)
                return combined(operator, first, (yield from self._value(right)), self._budget)
            case ast.Call():
                return (yield from self._called(node))
        raise Malformed(f"a value of it is not to be read{place(node)}")

    def _values(self, nodes: list[ast.expr]) -> Generator[Asked, object, list[object]]:
        values = []
        for node in nodes:
            values.append((yield from self._value(node)))  # noqa: PERF401  # a comprehension cannot yield
        return values

    def _mapping(self, node: ast.Dict) -> _Value:
        result: dict[str, object] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
                raise Malformed(f"a key is no string{place(node)}")
            result[key.value] = yield from self._value(value)
        return self._budget.bounded(result)

    def _called(self, node: ast.Call) -> _Value:
        name = dotted(node.func)
        if (root := name.partition(".")[0]) in self._variables:
            raise Malformed(f"{root[:40]!r} is a variable and cannot be called{place(node)}")
        positional = yield from self._values(node.args)
        named: dict[str, object] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise Malformed(f"`**` stands in it{place(node)}")
            if keyword.arg in named:
                raise Malformed(f"the argument {keyword.arg[:40]!r} is given twice{place(node)}")
            named[keyword.arg] = yield from self._value(keyword.value)
        return (yield Asked(name, tuple(positional), named))

    def _looked_up(self, name: str, node: ast.AST) -> object:
        if name not in self._variables:
            raise Malformed(f"the variable {name[:40]!r} was never set{place(node)}")
        return self._variables[name]


def _variable(target: ast.expr) -> str:
    if not isinstance(target, ast.Name):
        raise Malformed(f"something is set that is no variable{place(target)}")
    return target.id
