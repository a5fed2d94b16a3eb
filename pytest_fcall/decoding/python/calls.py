"""Calls written as Python: `[f(a=1), g(b=2)]`, `f(a=1)`, several on lines of their own; fenced, or beside prose.

Either the whole text is calls, or a fenced block is, or a line. Beside prose a line `f(…)` counts only where `f` was
offered, and a block only where one of its calls was; a list of calls in brackets always counts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from pytest_fcall.core.reply import Call, Calls
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.call_collector import CallCollector
from pytest_fcall.decoding.call_marks import LIST_OF_CALLS, NAME
from pytest_fcall.decoding.positional_arguments import named_arguments, tools_by_name
from pytest_fcall.decoding.python.literals import literal, repeated_dict_keys
from pytest_fcall.decoding.python.source import NotPython, expression_end, parse_expression, statements
from pytest_fcall.decoding.text_parts import FENCE, MarkdownPiece, markdown_pieces, split_thinking
from pytest_fcall.decoding.unreadable import Unreadable, shortened

ValueReader: TypeAlias = Callable[[ast.expr], Json]
"""Gives the value of an argument, or raises Unreadable."""


def read_call_node(
    node: ast.expr, tools: Mapping[str, Tool], read: ValueReader = literal
) -> tuple[Call, tuple[str, ...]]:
    """Read `name(a=1)` or `dotted.name("x")`, with notes; Unreadable says why it cannot be read.

    Positional arguments take the names of the tool's parameters, in the order of its signature.
    """
    if not isinstance(node, ast.Call) or (name := dotted_name(node.func)) is None:
        raise Unreadable("it is no call of a tool")
    positional = [_argument_value(name, f"number {number}", item, read) for number, item in enumerate(node.args, 1)]
    named: dict[str, Json] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise Unreadable(f"{shortened(name)} is called with `**`, which names no argument")
        if keyword.arg in named:
            raise Unreadable(f"the argument {shortened(keyword.arg)} of {shortened(name)} is given twice")
        named[keyword.arg] = _argument_value(name, shortened(keyword.arg), keyword.value, read)
    arguments, notes = named_arguments(name, positional, named, tools)
    return Call(name, arguments), (*notes, *repeated_dict_keys(node))


def dotted_name(node: ast.expr) -> str | None:
    """The name in `f` or `a.b.f`; None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else None


def _argument_value(name: str, argument: str, node: ast.expr, read: ValueReader) -> Json:
    try:
        return read(node)
    except Unreadable as error:
        raise Unreadable(f"the argument {argument} of {shortened(name)} cannot be read: {error}") from None


_BLOCKS = frozenset(
    {"", "python", "py", "python3", "json", "tool_code", "tool_call", "tool_calls", "text", "plaintext"}
)

_LINE = re.compile(rf"^[ \t]*+`?(?P<call>\[?[ \t]*+(?P<name>{NAME})\()", re.MULTILINE)
# Around the calls of Llama and Olmo.
_TOKENS = re.compile(r"<\|python_(?:start|end|tag)\|>|</?function_calls>")
_FIRST_CALL = re.compile(rf"[\[(]?\s*+{NAME}\(")
_FIRST_COMMENTS = re.compile(r"\A(?:\s*+#[^\n]*+\n)++")
_CALLED = re.compile(rf"\b({NAME})\(")


def decode(text: str, tools: Sequence[Tool] = ()) -> Calls:
    """Read the calls; what was meant as one and cannot be read is malformed."""
    offered = tools_by_name(tools)
    found = CallCollector()
    thought, text = split_thinking(text)
    found.thought(thought)
    text = _TOKENS.sub("\n", text)
    if FENCE not in text:
        _read_text(_unquoted(text.strip()), offered, found)
        return found.result()
    parts = list(markdown_pieces(text))
    alone = not any(part.info is None and part.text.strip() for part in parts)
    for part in parts:
        if part.info is None:
            _read_lines(part.text, offered, found)
        else:
            _read_block(part, offered, found, alone=alone)
    return found.result()


def call_nodes(source: str) -> list[ast.expr] | None:
    """Give the items of a text that is calls and nothing else, or an empty list; None where it is anything else.

    Raises NotPython where it begins with a call and cannot be read.
    """
    if not _FIRST_CALL.match(source):
        return [] if source.replace(" ", "") == "[]" else None
    trees = [parse_expression(statement) for statement in statements(source)]
    items = [item for tree in trees for item in (tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree])]
    return items if any(isinstance(item, ast.Call) for item in items) else None


def _read_text(text: str, offered: Mapping[str, Tool], found: CallCollector) -> None:
    try:
        items = call_nodes(text)
    except NotPython:
        items = None
    if items is None:
        _read_lines(text, offered, found)
    else:
        collect_calls(items, offered, found)


def _read_block(block: MarkdownPiece, offered: Mapping[str, Tool], found: CallCollector, *, alone: bool) -> None:
    text = _FIRST_COMMENTS.sub("", block.text).strip()
    try:
        items, error = (call_nodes(text) if block.info in _BLOCKS else None), "it holds more than calls"
    except NotPython as reason:
        items, error = None, str(reason)
    if items is not None and (alone or not offered or _any_offered(items, offered) or LIST_OF_CALLS.match(text)):
        collect_calls(items, offered, found)
        if not block.closed:
            found.note("The fenced block is not closed.")
    elif items is None and block.info in _BLOCKS and _was_meant_as_call(text, offered):
        found.fault(f"A fenced block cannot be read as calls: {error}.")
    else:
        found.prose(text)


def _read_lines(text: str, offered: Mapping[str, Tool], found: CallCollector) -> None:
    """Read the calls on lines of their own; all else is prose."""
    start = at = 0
    while not found.is_full and (line := _LINE.search(text, at)):
        first = line.start("call")
        at = line.end()
        if not _is_offered(line["name"], offered) and not LIST_OF_CALLS.match(text, first):
            continue
        try:
            end = expression_end(text, first)
        except NotPython as error:
            found.fault(f"A call of {shortened(line['name'])} cannot be read: {error}.")
            _skip_prose(text[start : line.start()], offered, found)
            return
        at = len(text) if (newline := text.find("\n", end)) < 0 else newline
        if not text[end:at].strip(" \t\r;,`"):
            _skip_prose(text[start : line.start()], offered, found)
            _read_line(text[first:end], offered, found)
            start = at
    _skip_prose(text[start:], offered, found)


def _read_line(source: str, offered: Mapping[str, Tool], found: CallCollector) -> None:
    try:
        items, error = call_nodes(source), "it holds more than calls"
    except NotPython as reason:
        items, error = None, "its underscores are escaped, as in Markdown" if r"\_" in source else str(reason)
    if items is None:
        found.fault(f"The line {shortened(source)} cannot be read as a call: {error}.")
    else:
        collect_calls(items, offered, found)


def _skip_prose(text: str, offered: Mapping[str, Tool], found: CallCollector) -> None:
    """Leave out prose, unless it holds a list of calls of offered tools: nobody says such a thing."""
    found.prose(text)
    lists = (each for each in LIST_OF_CALLS.finditer(text) if not offered or _is_offered(each["name"], offered))
    if said := next(lists, None):
        shown = shortened(text[said.start() : said.start() + 60])
        found.fault(f"A list of calls cannot be read where it stands: {shown}.")


def _is_offered(name: str, offered: Mapping[str, Tool]) -> bool:
    return name.replace("\\", "") in offered


def _any_offered(items: Sequence[ast.expr], offered: Mapping[str, Tool]) -> bool:
    return any(isinstance(item, ast.Call) and dotted_name(item.func) in offered for item in items)


def _was_meant_as_call(text: str, offered: Mapping[str, Tool]) -> bool:
    """Whether text that cannot be read was to call a tool."""
    return bool(LIST_OF_CALLS.match(text)) or any(name in offered for name in _CALLED.findall(text))


def collect_calls(items: Sequence[ast.expr], offered: Mapping[str, Tool], found: CallCollector) -> None:
    """Read each of the items that `calls_in` gave."""
    for item in items:
        found.call(partial(read_call_node, item, offered))


def _unquoted(text: str) -> str:
    return text[1:-1].strip() if len(text) > 2 and text[0] == text[-1] == "`" else text
