"""The decoder `toolbench`, of SambaNova's ToolBench: an action on each line.

Actions are `API.set_location("Oslo")`, `Agent.Open(door)`, `origin = Loc("Oslo")`, `curl -X GET '…'` and
`click[buy now]`. The object before the dot is part of the tool's name only if a tool with the whole name was offered.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from pytest_fcall.core.reply import Call, Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.argument_values import named_arguments, tools_by_name
from pytest_fcall.decoding.call_collector import CallCollector, ReadCall
from pytest_fcall.decoding.python_calls import dotted_name, read_call_node
from pytest_fcall.decoding.python_source import NotPython, expression_end, literal, parse_expression
from pytest_fcall.decoding.research.curl import read_curl
from pytest_fcall.decoding.text_parts import FENCE, split_thinking
from pytest_fcall.decoding.unreadable import Unreadable, shortened

_NAME = r"[^\W\d][\w.]*+"
_LABEL = re.compile(r"(?:Actions?:|\d{1,4}\.(?!\d))\s*+")
_ASSIGNMENT = re.compile(r"(?P<name>[^\W\d]\w*+)\s*+=(?!=)(?P<value>.++)")
_ACTION = re.compile(rf"(?P<name>{_NAME})\(.*\)")
_CURL = re.compile(r"curl\s")
_VALUE = re.compile(r"['\"\[{]|[^\W\d]\w*+\(")  # the start of a value, unlike prose such as `total = 5 apples`
_OBJECT = re.compile(r"(?:API|Agent|worksheet)\.")
_CLICK = re.compile(r"(?P<name>search|click)\[(?P<text>.*)\]")
_STOPS = ("Task:", "------")
_CONSTRUCTORS: Mapping[str, Tool] = {
    "Date": Tool("Date", parameters={"properties": {"month": {}, "day": {}, "year": {}}}),
    "Loc": Tool("Loc", parameters={"properties": {"location": {}}}),
}
_MAX_VARIABLE_LENGTH = 200  # otherwise a variable that is used often makes large arguments of a short text


def decode(text: str, tools: Sequence[Tool] = ()) -> Calls:
    """Read the actions; other lines are prose."""
    collector = CallCollector()
    thinking, text = split_thinking(text)
    collector.skip_thinking(thinking)
    reader = _Reader(tools_by_name(tools), collector)
    for line in _lines(text, collector):
        if collector.is_full:
            break
        reader.read(line)
    return collector.result()


class _Reader:
    """Reads line by line, and remembers the values of variables."""

    def __init__(self, offered: Mapping[str, Tool], collector: CallCollector) -> None:
        self._collector = collector
        self._offered = offered
        self._variables: dict[str, Json] = {}

    def read(self, line: str) -> None:
        """Read one line."""
        if _CURL.match(line):
            self._collector.add_call(partial(read_curl, line, self._offered))
        elif action := _CLICK.fullmatch(line):
            self._collector.add_call(partial(self._click, action["name"], action["text"]))
        elif _OBJECT.match(line) or _is_action(line):
            self._collector.add_call(partial(self._action, line))
        elif assignment := _ASSIGNMENT.fullmatch(line):
            self._assign(assignment["name"], assignment["value"].strip(), line)
        else:
            self._collector.skip_prose(line)

    def _action(self, line: str) -> ReadCall:
        node = parse_expression(line)
        if not isinstance(node, ast.Call) or (name := dotted_name(node.func)) is None:
            raise Unreadable(f"{shortened(line)} is not a tool call")
        _, dot, last = name.rpartition(".")
        short = last if dot and name not in self._offered and last in self._offered else name
        # Models write the arguments of an Agent without quotes.
        read = partial(self._value, words=not name.startswith("API."))
        return read_call_node(ast.Call(ast.Name(short), node.args, node.keywords), self._offered, read)

    def _click(self, name: str, text: str) -> ReadCall:
        arguments, _ = named_arguments(name, [text], {}, self._offered)
        return Call(name, arguments), ()

    def _assign(self, name: str, source: str, line: str) -> None:
        try:
            self._variables[name] = _constant(parse_expression(source[:_MAX_VARIABLE_LENGTH]))
        except Unreadable as error:
            if _VALUE.match(source):
                self._collector.add_fault(f"The variable {shortened(name)} cannot be read: {error}.")
            else:
                self._collector.skip_prose(line)

    def _value(self, node: ast.expr, *, words: bool) -> Json:
        if isinstance(node, ast.Name) and node.id in self._variables:
            return self._variables[node.id]
        if isinstance(node, ast.Name) and words:
            return node.id
        return _constant(node)


def _is_action(line: str) -> bool:
    """Whether a line is one call, perhaps with an unclosed string; `note(s): (none)` is not."""
    if not _ACTION.fullmatch(line):
        return False
    try:
        return expression_end(line, 0) == len(line)
    except NotPython:
        return True


def _constant(node: ast.expr) -> Json:
    """Give the value of a literal, or the arguments of `Date(…)` and `Loc(…)` as an object."""
    if isinstance(node, ast.Call) and dotted_name(node.func) in _CONSTRUCTORS:
        return read_call_node(node, _CONSTRUCTORS)[0].arguments
    return literal(node)


def _lines(text: str, collector: CallCollector) -> Iterator[str]:
    """The lines up to the next task, without numbers, semicolons and quotes around them."""
    for line in text.replace("\\\n", " ").split("\n"):
        bare = line.strip()
        if bare.startswith(_STOPS):
            collector.add_note(f"Text from {shortened(bare)} on was dropped.")
            return
        bare = bare[label.end() :] if (label := _LABEL.match(bare)) else bare
        bare = bare.rstrip("; ")
        if bare.startswith(("#", FENCE)):
            continue
        if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'`":
            bare = bare[1:-1]
        if bare:
            yield bare
