"""What models of ToolBench (SambaNova's) write, an action on each line: `API.set_location("Oslo")`, `Agent.Open(door)`,
`origin = Loc("Oslo")`, `curl -X GET '…'`, `click[buy now]`.

The object before the dot is no part of the tool's name, unless a tool was offered under the whole of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from pytest_fcall.core.reply import Call, Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.call_collector import CallCollector, ReadCall
from pytest_fcall.decoding.families.curl import read_curl
from pytest_fcall.decoding.positional_arguments import named_arguments, tools_by_name
from pytest_fcall.decoding.python.calls import dotted_name, read_call_node
from pytest_fcall.decoding.python.literals import literal
from pytest_fcall.decoding.python.source import NotPython, expression_end, parse_expression
from pytest_fcall.decoding.text_parts import FENCE, split_thinking
from pytest_fcall.decoding.unreadable import Unreadable, shortened

_NAME = r"[^\W\d][\w.]*+"
_LABEL = re.compile(r"(?:Actions?:|\d{1,4}\.(?!\d))\s*+")
_ASSIGNMENT = re.compile(r"(?P<name>[^\W\d]\w*+)\s*+=(?!=)(?P<value>.++)")
_ACTION = re.compile(rf"(?P<name>{_NAME})\(.*\)")
_CURL = re.compile(r"curl\s")
_VALUE = re.compile(r"['\"\[{]|[^\W\d]\w*+\(")  # plainly no prose, such as `total = 5 apples`
_BROKEN = re.compile(r"(?:API|Agent|worksheet)\.")
_CLICK = re.compile(r"(?P<name>search|click)\[(?P<text>.*)\]")
_STOPS = ("Task:", "------")
_MAKERS: Mapping[str, Tool] = {
    "Date": Tool("Date", parameters={"properties": {"month": {}, "day": {}, "year": {}}}),
    "Loc": Tool("Loc", parameters={"properties": {"location": {}}}),
}
_LONGEST_VARIABLE = 200  # characters, cut off there: else a variable that is used often makes much of little text


def decode(text: str, tools: Sequence[Tool] = ()) -> Calls:
    """Read the actions; other lines are prose."""
    reader = _Reader(tools_by_name(tools))
    thought, text = split_thinking(text)
    reader.found.thought(thought)
    for line in _lines(text, reader.found):
        if reader.found.is_full:
            break
        reader.read(line)
    return reader.found.result()


class _Reader:
    """Walks down the lines, and remembers what variables stand for."""

    def __init__(self, offered: Mapping[str, Tool]) -> None:
        self.found = CallCollector()
        self._offered = offered
        self._variables: dict[str, Json] = {}

    def read(self, line: str) -> None:
        """Read one line."""
        if _CURL.match(line):
            self.found.call(partial(read_curl, line, self._offered))
        elif action := _CLICK.fullmatch(line):
            self.found.call(partial(self._click, action["name"], action["text"]))
        elif _BROKEN.match(line) or _is_action(line):
            self.found.call(partial(self._action, line))
        elif assignment := _ASSIGNMENT.fullmatch(line):
            self._assign(assignment["name"], assignment["value"].strip(), line)
        else:
            self.found.prose(line)

    def _action(self, line: str) -> ReadCall:
        node = parse_expression(line)
        if not isinstance(node, ast.Call) or (name := dotted_name(node.func)) is None:
            raise Unreadable(f"{shortened(line)} is no call of a tool")
        _, dot, last = name.rpartition(".")
        short = last if dot and name not in self._offered and last in self._offered else name
        # What an Agent acts on, models write without quotes.
        read = partial(self._value, words=not name.startswith("API."))
        return read_call_node(ast.Call(ast.Name(short), node.args, node.keywords), self._offered, read)

    def _click(self, name: str, text: str) -> ReadCall:
        arguments, _ = named_arguments(name, [text], {}, self._offered)
        return Call(name, arguments), ()

    def _assign(self, name: str, source: str, line: str) -> None:
        try:
            self._variables[name] = _made(parse_expression(source[:_LONGEST_VARIABLE]))
        except Unreadable as error:
            if _VALUE.match(source):
                self.found.fault(f"The variable {shortened(name)} cannot be read: {error}.")
            else:
                self.found.prose(line)

    def _value(self, node: ast.expr, *, words: bool) -> Json:
        if isinstance(node, ast.Name) and node.id in self._variables:
            return self._variables[node.id]
        if isinstance(node, ast.Name) and words:
            return node.id
        return _made(node)


def _is_action(line: str) -> bool:
    """Whether a line is one call, or begins like one that is not closed in its strings; not so `note(s): (none)`."""
    if not _ACTION.fullmatch(line):
        return False
    try:
        return expression_end(line, 0) == len(line)
    except NotPython:
        return True


def _made(node: ast.expr) -> Json:
    """The value of a literal, or of `Date(…)` and `Loc(…)`, which become objects of what they were made of."""
    if not isinstance(node, ast.Call):
        return literal(node)
    if dotted_name(node.func) not in _MAKERS:
        return literal(node)
    return read_call_node(node, _MAKERS)[0].arguments


def _lines(text: str, found: CallCollector) -> Iterator[str]:
    """The lines up to the next task, without their numbers, semicolons and the quotes around them."""
    for line in text.replace("\\\n", " ").split("\n"):
        bare = line.strip()
        if bare.startswith(_STOPS):
            found.note(f"What follows {shortened(bare)} was dropped.")
            return
        bare = bare[label.end() :] if (label := _LABEL.match(bare)) else bare
        bare = bare.rstrip("; ")
        if bare.startswith(("#", FENCE)):
            continue
        if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'`":
            bare = bare[1:-1]
        if bare:
            yield bare
