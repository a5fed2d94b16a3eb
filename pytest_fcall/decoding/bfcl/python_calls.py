"""Calls written in Python, as the official decoder reads them.

It keeps only arguments given by name, and gives variables as their names. Operators between literals it passes to
`eval`. Here they are computed within limits; names, calls and formatting between operators are undecodable.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Sequence
from json.decoder import JSONDecoder
from keyword import iskeyword, kwlist
from typing import TypeAlias

from pytest_fcall.decoding.bfcl.official_form import Undecodable
from pytest_fcall.decoding.python_source import NotPython, apply_operator, apply_sign, parse_expression

Decoded: TypeAlias = list[dict[object, object]]
LiteralSequence: TypeAlias = str | bytes | list[object] | tuple[object, ...]

_MAX_DEPTH = 200
"""The most brackets within one another that Python itself reads."""
_MAX_LENGTH = 100_000
_NO_OPERATOR = "an argument has an operator that its values do not support"
_TOO_LONG = "the value of an argument would be too long"
_NAME = r"[A-Za-z_][A-Za-z_0-9]*"
_CHARACTERS = r"\\\x00-\x1f\ud800-\udfff"  # escapes, and the characters that end a line or the text in Python
_CALL = re.compile(rf"[ \n]*({_NAME}(?:\.{_NAME})*)\([ \n]*")
_END = r"[ \n]*(?:,[ \n]*|(?=\)))"
_ARGUMENT = re.compile(
    rf"""({_NAME})[ \n]*=[ \n]*
    (?: (?: "([^"{_CHARACTERS}]*)" | '([^'{_CHARACTERS}]*)' | (-?(?:0|[1-9][0-9]{{0,17}})) | (True|False|None) ){_END}
      | (?=[-0-9\[{{]) )""".replace("[ \\n]", "[\\ \\n]"),
    re.VERBOSE,
)
_AFTER_VALUE = re.compile(_END)
_AFTER_CALL = re.compile(r"\)[ \n]*(?:,(?=[ \n]*[A-Za-z_])|(\]))")
_NOT_COMMON = re.compile(rf"[{_CHARACTERS}\x7f]|true|false|null|NaN|Infinity")
_MAX_BRACKETS = 100
_KEYWORDS = frozenset(kwlist)
_WORDS = {"True": True, "False": False, "None": None}
_read_json = JSONDecoder().raw_decode


def decode_python(text: str) -> Decoded:
    """Read one call, or a sequence of calls. Raises Undecodable."""
    return PythonDecoder().decode(text)


class PythonDecoder:
    """Reads calls, fast where they have the common form, else with Python's own parser.

    Decoders that others made of the official one overrule what they do differently.
    """

    def decode(self, text: str) -> Decoded:
        """Read the calls of a text. Raises Undecodable."""
        calls = _ordinary_calls(text)
        return self._parsed_calls(text) if calls is None else calls

    def _parsed_calls(self, text: str) -> Decoded:
        evaluation = _LiteralEvaluation()
        try:
            nodes = self.items(parse_expression(text, deepest=_MAX_DEPTH))
            calls = [node for node in nodes if isinstance(node, ast.Call)]
            if len(calls) < len(nodes):
                raise Undecodable("it contains more than calls")
            return [self._call(node, evaluation) for node in calls]
        except NotPython as error:
            raise Undecodable(f"it is not Python: {error}") from None
        except RecursionError:
            raise Undecodable("it is nested too deeply") from None
        except (TypeError, ValueError) as error:  # a list as a key; an integer with too many digits
            raise Undecodable(str(error)) from None

    def items(self, tree: ast.expr) -> Sequence[ast.expr]:
        """Give the calls of a text, which may be one call without brackets. Raises Undecodable."""
        return tree.elts if isinstance(tree, ast.List | ast.Tuple | ast.Set) else [tree]

    def bare_call(self, node: ast.Call) -> object:
        """Give the value of an argument that is a call without arguments by name: its source text."""
        return ast.unparse(node)

    def _call(self, node: ast.Call, evaluation: _LiteralEvaluation) -> dict[object, object]:
        return {
            callee_name(node.func): {keyword.arg: self._value(keyword.value, evaluation) for keyword in node.keywords}
        }

    def _value(self, node: ast.expr | None, evaluation: _LiteralEvaluation) -> object:
        def value(inner: ast.expr | None) -> object:
            return self._value(inner, evaluation)

        match node:
            case ast.Constant(value=constant):
                return "..." if constant is ... else constant
            case ast.List(elts=items):
                return [value(item) for item in items]
            case ast.Tuple(elts=items):
                return tuple([value(item) for item in items])
            case ast.Dict(keys=keys, values=values):
                return {value(key): value(item) for key, item in zip(keys, values, strict=True)}
            case ast.UnaryOp(operand=ast.Constant(value=int() | float() | complex() as number)):
                return -number  # whatever the sign is, as in the official decoder
            case ast.BinOp():
                return evaluation.value(node)
            case ast.Call(keywords=[]):
                return self.bare_call(node)
            case ast.Call():
                return self._call(node, evaluation)
        return _text(node)


def callee_name(node: ast.expr) -> str:
    """Give the dotted name of what is called; without the parts that are no names."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _text(node: ast.expr | None) -> str:
    """Give the source text of a value, as Python formats it."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Subscript(value=value, slice=place):
            return f"{ast.unparse(value)}[{ast.unparse(place)}]"
    raise Undecodable(f"an argument is a {type(node).__name__}")


class _LiteralEvaluation:
    """Computes the operators of one text, which may make at most `_MAX_LENGTH` items and characters in all."""

    def __init__(self) -> None:
        self._budget = _MAX_LENGTH

    def value(self, node: ast.expr) -> object:
        """Give the value of literals and operators. Raises NotPython where Python fails, too, else Undecodable."""
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
        raise Undecodable(f"an argument would have to be executed ({type(node).__name__})")

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
        self._budget -= length
        if self._budget < 0:
            raise Undecodable(_TOO_LONG)


def _signed(sign: ast.unaryop, value: object) -> object:
    if isinstance(value, int | float | complex):
        return apply_sign(sign, value)
    raise Undecodable(_NO_OPERATOR)


def _ordinary_calls(text: str) -> list[dict[object, object]] | None:
    """Read the most common form fast: `[name(key=value, …)]` with plain values; None for any other text.

    The JSON reader reads lists and objects that mean the same in both languages.
    """
    if not text.startswith("["):
        return None
    if '"' not in text:
        text = text.replace("'", '"')
    calls: list[dict[object, object]] = []
    position, last = 1, False
    while not last:
        if (head := _CALL.match(text, position)) is None or not _KEYWORDS.isdisjoint(head[1].split(".")):
            return None
        if (given := _arguments(text, head.end())) is None or (tail := _AFTER_CALL.match(text, given[1])) is None:
            return None
        calls.append({head[1]: given[0]})
        position, last = tail.end(), tail[1] is not None
    return calls if position == len(text) else None


def _arguments(text: str, position: int) -> tuple[dict[object, object], int] | None:
    arguments: dict[object, object] = {}
    while (argument := _ARGUMENT.match(text, position)) is not None:
        name = argument[1]
        position = argument.end()
        if iskeyword(name):
            return None
        match argument.lastindex:
            case 2 | 3 as group:
                arguments[name] = argument[group]
            case 4:
                arguments[name] = int(argument[4])
            case 5:
                arguments[name] = _WORDS[argument[5]]
            case _:
                if (value := _value(text, position)) is None:
                    return None
                arguments[name], position = value
    return arguments, position


def _value(text: str, start: int) -> tuple[object, int] | None:
    try:
        value, end = _read_json(text, start)
    except (ValueError, RecursionError):
        return None
    source = text[start:end]
    if _NOT_COMMON.search(source) or source.count("[") + source.count("{") > _MAX_BRACKETS:
        return None
    after = _AFTER_VALUE.match(text, end)
    return (value, after.end()) if after else None
