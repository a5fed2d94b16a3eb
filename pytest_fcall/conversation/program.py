"""Programs that models write in place of calls.

They are parsed against an allow-list and interpreted step by step; the caller answers their calls.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeAlias

from pytest_fcall.core import arithmetic
from pytest_fcall.core.arithmetic import Incalculable
from pytest_fcall.core.values import HUGE_INTEGER

__all__ = ["MalformedProgram", "ProgramCall", "program_steps", "run_program"]

_LONGEST_PROGRAM: Final = 10_000
"""Characters. Programs of models have a few hundred; some longer texts take Python quadratic time."""
_DEEPEST: Final = 50
"""Levels of nesting, so that walking a tree can recurse."""

_MOST_STEPS: Final = 100_000
"""Steps of one program; items and characters of computed values count, too."""

_ALLOWED: Final = (
    *(ast.Module, ast.Assign, ast.AugAssign, ast.Expr, ast.Pass),
    *(ast.Constant, ast.Name, ast.Attribute, ast.Load, ast.Store, ast.Call, ast.keyword, ast.List, ast.Tuple, ast.Dict),
    *(ast.UnaryOp, ast.UAdd, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow),
)
# All children of these are allowed, and most nodes are of these types.
_LEAVES: Final = (ast.Constant, ast.Name, ast.expr_context, ast.operator, ast.unaryop)


class MalformedProgram(ValueError):
    """The text is not a program that can be run. The message says why, without a full stop."""


@dataclass(frozen=True, slots=True)
class ProgramCall:
    """A call that a program makes. Its arguments are plain values, or results of earlier calls."""

    name: str
    positional: tuple[object, ...]
    named: Mapping[str, object]


ProgramSteps: TypeAlias = Generator[ProgramCall, object, dict[str, object]]
_ValueSteps: TypeAlias = Generator[ProgramCall, object, object]


def program_steps(source: str) -> ProgramSteps:
    """Run a program: yields its calls, is sent their results, and returns the variables at the end.

    Raises MalformedProgram: before the first call for a statement or expression that is not allowed, such as a loop;
    on the way for a variable that was never set, a division by zero or a value too large. Results of calls are passed
    on as they are.
    """
    return _Interpreter().run(_statements(source))


def run_program(source: str, call: Callable[[ProgramCall], object]) -> dict[str, object]:
    """Run a program with a function that answers its calls; return the variables. Raises as `program_steps`."""
    steps = program_steps(source)
    result: object = None
    while True:
        try:
            made = steps.send(result)
        except StopIteration as end:
            variables: dict[str, object] = end.value
            return variables
        result = call(made)


def _statements(source: str) -> list[ast.stmt]:
    """Parse the statements: assignments to names, and calls; of literals, variables, arithmetic and calls."""
    if len(source) > _LONGEST_PROGRAM:
        raise MalformedProgram(f"it has more than {_LONGEST_PROGRAM:,} characters")
    tree = _parsed(source)
    level: list[ast.AST] = [tree]
    for _ in range(_DEEPEST):
        inner = (node for node in level if not isinstance(node, _LEAVES))
        level = [child for node in inner for child in ast.iter_child_nodes(node)]
        for node in level:
            if not isinstance(node, _ALLOWED):
                raise MalformedProgram(f"{_described(node)} is not allowed{_line_of(node)}")
        if not level:
            return tree.body
    raise MalformedProgram(f"it is nested more than {_DEEPEST} levels deep")


def _dotted(node: ast.expr) -> str:
    """The name in `f` or `a.b.f`. Raises MalformedProgram for anything else, and for names that are not public."""
    parts: list[str] = []
    inner = node
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    if not isinstance(inner, ast.Name):
        raise MalformedProgram(f"the called function has no name{_line_of(node)}")
    name = ".".join((inner.id, *reversed(parts)))
    if any(part.startswith("_") for part in name.split(".")):
        raise MalformedProgram(f"{name[:40]!r} is not a public name{_line_of(node)}")
    return name


def _line_of(node: ast.AST) -> str:
    """The line of a node, to be appended to a message."""
    line = getattr(node, "lineno", None)
    return f" (line {line})" if line else ""


def _parsed(source: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (RecursionError, MemoryError):
        raise MalformedProgram("it is nested too deep") from None
    except SyntaxError as error:
        reason = (
            HUGE_INTEGER if "limit" in error.msg else error.msg.partition(" (<")[0]
        )  # about the digits of an integer
        raise MalformedProgram(f"{reason} (line {error.lineno})" if error.lineno else reason) from None
    except UnicodeError:
        raise MalformedProgram("it contains half of a surrogate pair") from None
    except ValueError as error:
        raise MalformedProgram(str(error)) from None


def _described(node: ast.AST) -> str:
    name = type(node).__name__
    return f"{'an' if name[0] in 'AEIOU' else 'a'} `{name}`"


class _Budget:
    """The remaining steps of a program."""

    def __init__(self) -> None:
        self._left = _MOST_STEPS

    def spend(self, steps: int) -> None:
        """Use up steps. Raises MalformedProgram where there are not enough."""
        self._left -= steps
        if self._left < 0:
            raise MalformedProgram(f"it takes more than {_MOST_STEPS:,} steps")

    def checked(self, value: object, depth: int = 0) -> object:
        """Return the value, after spending a step for each of its characters and items, on all levels."""
        if depth > _DEEPEST:
            raise MalformedProgram(f"a value of it is nested more than {_DEEPEST} levels deep")
        if isinstance(value, str | list | tuple | dict):
            self.spend(len(value))
        if isinstance(value, list | tuple | dict):
            for item in value.values() if isinstance(value, dict) else value:
                self.checked(item, depth + 1)
        return value


def _apply_sign(sign: ast.unaryop, value: object) -> object:
    """Apply a sign to a number."""
    if not isinstance(value, int | float):
        raise MalformedProgram("a sign before a value that is not a number")
    with _as_malformed():
        return arithmetic.apply_sign(sign, value)


def _combine(sign: ast.operator, left: object, right: object, budget: _Budget) -> object:
    """Apply an operator to numbers, or join strings or lists with `+`."""
    if isinstance(left, int | float) and isinstance(right, int | float):
        with _as_malformed():
            return _real(arithmetic.apply_operator(sign, left, right))
    if isinstance(sign, ast.Add) and type(left) is type(right) and isinstance(left, str | list | tuple):
        joined: object = operator.add(left, right)
        return budget.checked(joined)
    raise MalformedProgram("an operator between values that are not numbers")


def _real(number: arithmetic.Number) -> int | float:
    if isinstance(number, complex):
        raise MalformedProgram("it cannot be computed: a root of a negative number")
    return number


@contextmanager
def _as_malformed() -> Iterator[None]:
    try:
        yield
    except Incalculable as error:
        raise MalformedProgram(str(error)) from None


class _Interpreter:
    def __init__(self) -> None:
        self._variables: dict[str, object] = {}
        self._budget = _Budget()

    def run(self, body: list[ast.stmt]) -> ProgramSteps:
        for statement in body:
            match statement:
                case ast.Assign(targets=targets, value=value):
                    names = [_variable(target) for target in targets]
                    result = yield from self._value(value)
                    self._variables |= dict.fromkeys(names, result)
                case ast.AugAssign(target=target, op=sign, value=value):
                    name = _variable(target)
                    before = self._looked_up(name, target)
                    if isinstance(before, list):  # other variables may hold the same list
                        raise MalformedProgram(f"a list is changed in place{_line_of(target)}")
                    change = yield from self._value(value)
                    self._variables[name] = _combine(sign, before, change, self._budget)
                case ast.Expr(value=ast.Call() | ast.Constant() as value):
                    yield from self._value(value)
                case ast.Expr():
                    raise MalformedProgram(f"a statement has no effect{_line_of(statement)}")
        return self._variables

    def _value(self, node: ast.expr) -> _ValueSteps:
        self._budget.spend(1)
        match node:
            case ast.Constant(value=str() | bool() | int() | float() | None as value):
                return self._budget.checked(value)
            case ast.Name(id=name):
                return self._looked_up(name, node)
            case ast.List(elts=items):
                return self._budget.checked((yield from self._values(items)))
            case ast.Tuple(elts=items):
                return self._budget.checked(tuple((yield from self._values(items))))
            case ast.Dict():
                return (yield from self._mapping(node))
            case ast.UnaryOp(op=sign, operand=operand):
                return _apply_sign(sign, (yield from self._value(operand)))
            case ast.BinOp(left=left, op=operator, right=right):
                first = yield from self._value(left)
                return _combine(operator, first, (yield from self._value(right)), self._budget)
            case ast.Call():
                return (yield from self._called(node))
        raise MalformedProgram(f"unsupported value{_line_of(node)}")

    def _values(self, nodes: list[ast.expr]) -> Generator[ProgramCall, object, list[object]]:
        values = []
        for node in nodes:
            values.append((yield from self._value(node)))  # noqa: PERF401  # a comprehension cannot yield
        return values

    def _mapping(self, node: ast.Dict) -> _ValueSteps:
        result: dict[str, object] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
                raise MalformedProgram(f"a key is not a string{_line_of(node)}")
            result[key.value] = yield from self._value(value)
        return self._budget.checked(result)

    def _called(self, node: ast.Call) -> _ValueSteps:
        name = _dotted(node.func)
        if (root := name.partition(".")[0]) in self._variables:
            raise MalformedProgram(f"{root[:40]!r} is a variable and cannot be called{_line_of(node)}")
        positional = yield from self._values(node.args)
        named: dict[str, object] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise MalformedProgram(f"`**` is not allowed{_line_of(node)}")
            if keyword.arg in named:
                raise MalformedProgram(f"the argument {keyword.arg[:40]!r} is given twice{_line_of(node)}")
            named[keyword.arg] = yield from self._value(keyword.value)
        return (yield ProgramCall(name, tuple(positional), named))

    def _looked_up(self, name: str, node: ast.AST) -> object:
        if name not in self._variables:
            raise MalformedProgram(f"the variable {name[:40]!r} was never set{_line_of(node)}")
        return self._variables[name]


def _variable(target: ast.expr) -> str:
    if not isinstance(target, ast.Name):
        raise MalformedProgram(f"an assignment to something that is not a variable{_line_of(target)}")
    return target.id
