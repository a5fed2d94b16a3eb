"""The simple JavaScript of promptfoo's configurations: the part of an output that is looked at, and comparisons of it.

Nothing is run. What is not one of these forms is not understood, and raises NotUnderstood.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from pytest_fcall.core.values import Json

_TOKEN: Final = re.compile(
    r"""\s*(?:
        (?P<string> '(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*" | `(?:[^`\\$]|\\.)*` )
      | (?P<number> -?\d+(?:\.\d+)? )
      | (?P<word> [A-Za-z_$][\w$]* )
      | (?P<sign> ===|!==|==|!=|>=|<=|&&|\|\||=>|[()\[\].;,!?:<>+*/-] )
    )""",
    re.VERBOSE,
)
_CONSTANTS: Final[Mapping[str, Json]] = {"true": True, "false": False, "null": None}
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_WRITTEN_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r"}
_LONGEST: Final = 2_000
"""The longest expression that is read."""


class NotUnderstood(ValueError):
    """An expression has another form. The text says where."""


class OutputPart(NamedTuple):
    """The part of an output that an expression names."""

    kind: str
    """`output`, `count` (of the calls), `name` (of a call) or `argument`."""
    call: int = 0
    path: tuple[str | int, ...] = ()
    """The path in the arguments, for an argument; all of them without a path."""


OUTPUT: Final = OutputPart("output")


class OutputCondition(NamedTuple):
    """A condition on a part of an output."""

    selection: OutputPart
    relation: str
    """`equals`, `contains`, `icontains`, or one of these after `not-`."""
    value: Json


def selection_of(expression: str) -> OutputPart:
    """The part of the output that a `transform` gives."""
    reader = _Reader(expression)
    reader.take_if("return")
    selection, method = reader.selection()
    reader.end()
    if method:
        raise NotUnderstood(f"`.{method}`")
    return selection


def comparisons_of(expression: str, variables: Mapping[str, Json]) -> list[OutputCondition]:
    """The comparisons of an assertion, all of which must hold. `variables` are those of the test."""
    reader = _Reader(expression)
    reader.take_if("return")
    found = [_comparison(reader, variables)]
    while reader.take_if("&&"):
        found.append(_comparison(reader, variables))
    reader.end()
    return found


def _comparison(reader: _Reader, variables: Mapping[str, Json]) -> OutputCondition:
    negated = reader.take_if("!")
    parenthesis = reader.take_if("(")
    selection, method = reader.selection()
    if method:
        relation, value = _method_relation(reader, method), reader.literal(variables)
        reader.take(")")
    elif negated:
        raise NotUnderstood("`!`")
    else:
        negated = (sign := reader.take_one("===", "==", "!==", "!=")).startswith("!")
        relation, value = "equals", reader.literal(variables)
        if sign in ("==", "!=") and not isinstance(value, str):
            raise NotUnderstood(f"`{sign}`, which converts types")
    if parenthesis:
        reader.take(")")
    return OutputCondition(selection, f"not-{relation}" if negated else relation, value)


def _method_relation(reader: _Reader, method: str) -> str:
    relation = {"includes": "contains", "toLowerCase.includes": "icontains"}.get(method)
    if relation is None:
        raise NotUnderstood(f"`.{method}`")
    reader.take("(")
    return relation


class _Reader:
    """Reads an expression token by token."""

    def __init__(self, expression: str) -> None:
        if len(expression) > _LONGEST:
            raise NotUnderstood("it is too long")
        self._tokens: list[tuple[str, str]] = []
        place = 0
        while expression[place:].strip():
            found = _TOKEN.match(expression, place)
            if found is None:
                raise NotUnderstood(f"`{expression[place : place + 20].strip()}`")
            self._tokens.append((str(found.lastgroup), found[str(found.lastgroup)]))
            place = found.end()
        self._next = 0

    def take_if(self, *texts: str) -> bool:
        """Take these tokens where they come next, and tell whether they did."""
        ahead = [text for kind, text in self._tokens[self._next : self._next + len(texts)] if kind != "string"]
        if ahead != list(texts):
            return False
        self._next += len(texts)
        return True

    def take(self, *texts: str) -> None:
        """Take these tokens, which must come next."""
        if not self.take_if(*texts):
            raise self._unexpected()

    def take_one(self, *texts: str) -> str:
        """Take the one of these tokens that comes next."""
        for text in texts:
            if self.take_if(text):
                return text
        raise self._unexpected()

    def end(self) -> None:
        """Check that nothing is left."""
        self.take_if(";")
        if self._next < len(self._tokens):
            raise self._unexpected()

    def literal(self, variables: Mapping[str, Json]) -> Json:
        """A string, a number, a constant, or `context.vars.NAME`."""
        if self.take_if("context", ".", "vars", "."):
            name = self._take_kind("word")
            if name not in variables or isinstance(variables[name], list):
                raise NotUnderstood(f"`context.vars.{name}`")
            return variables[name]
        kind, text = self._tokens[self._next] if self._next < len(self._tokens) else ("", "")
        self._next += 1
        match kind:
            case "string":
                return _ESCAPE.sub(lambda match: _WRITTEN_ESCAPES.get(match[1], match[1]), text[1:-1])
            case "number":
                value: Json = json.loads(text)
                return value
            case "word" if text in _CONSTANTS:
                return _CONSTANTS[text]
        self._next -= 1
        raise self._unexpected()

    def selection(self) -> tuple[OutputPart, str]:
        """The part of the output, and the methods that are called on it."""
        if self.take_if("JSON", ".", "parse", "("):
            call = self._call()
            self.take(".", "arguments")
            self.take(")")
            path, method = self._path()
            return OutputPart("argument", call, path), method
        start = self._next
        self.take("output")
        if self.take_if(".", "length") or self.take_if(".", "tool_calls", ".", "length"):
            return OutputPart("count"), ""
        if self.take_if("[") or self.take_if(".", "tool_calls", "["):
            self._next = start
            call = self._call()
            self.take(".", "name")
            return OutputPart("name", call), self._method()
        return OUTPUT, self._method()

    def _call(self) -> int:
        """The number of a call: `output[0]`, `output.tool_calls[0]`, with `.function` or not."""
        self.take("output")
        self.take_if(".", "tool_calls")
        self.take("[")
        number = self._take_kind("number")
        self.take("]")
        self.take_if(".", "function")
        if not number.isdigit():
            raise NotUnderstood(f"`[{number}]`")
        return int(number)

    def _path(self) -> tuple[tuple[str | int, ...], str]:
        path: list[str | int] = []
        while True:
            if method := self._method():
                return tuple(path), method
            if self.take_if("."):
                path.append(self._take_kind("word"))
            elif self.take_if("["):
                kind = self._tokens[self._next][0] if self._next < len(self._tokens) else ""
                text = self._take_kind(kind if kind in ("number", "string") else "string")
                path.append(int(text) if text.isdigit() else text[1:-1])
                self.take("]")
            else:
                return tuple(path), ""

    def _method(self) -> str:
        """The methods that come next, up to the bracket of the last one."""
        lower = self.take_if(".", "toLowerCase", "(", ")")
        if self.take_if(".", "includes"):
            return "toLowerCase.includes" if lower else "includes"
        if lower:
            raise NotUnderstood("`.toLowerCase()`")
        return ""

    def _take_kind(self, kind: str) -> str:
        if self._next >= len(self._tokens) or self._tokens[self._next][0] != kind:
            raise self._unexpected()
        self._next += 1
        return self._tokens[self._next - 1][1]

    def _unexpected(self) -> NotUnderstood:
        if self._next >= len(self._tokens):
            return NotUnderstood("its end")
        return NotUnderstood(f"`{self._tokens[self._next][1][:20]}`")
