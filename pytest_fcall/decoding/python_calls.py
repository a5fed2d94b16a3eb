"""The decoder `python`: calls written as Python.

`[f(a=1), g(b=2)]`, `f(a=1)`, or several calls on lines of their own; in fenced blocks, or beside prose. Beside prose a
line `f(…)` counts only if `f` was offered, and a block only if one of its calls was; a list of calls in brackets always
counts.
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
from pytest_fcall.decoding.argument_values import named_arguments, tools_by_name
from pytest_fcall.decoding.call_marks import LIST_OF_CALLS, NAME
from pytest_fcall.decoding.model_text import FENCE, CallCollector, MarkdownPiece, markdown_pieces, split_thinking
from pytest_fcall.decoding.python_source import (
    NotPython,
    expression_end,
    literal,
    parse_expression,
    repeated_dict_keys,
    statements,
)
from pytest_fcall.decoding.unreadable_text import Unreadable, quote_short

ReadArgument: TypeAlias = Callable[[ast.expr], Json]
"""Gives the value of an argument, or raises Unreadable."""

_BLOCKS = frozenset(
    {"", "python", "py", "python3", "json", "tool_code", "tool_call", "tool_calls", "text", "plaintext"}
)
_TOKENS = re.compile(r"<\|python_(?:start|end|tag)\|>|</?function_calls>")
"""Tokens around the calls of Llama and Olmo."""
_LIST_OF_CALLS = re.compile(LIST_OF_CALLS)
_FIRST_CALL = re.compile(rf"[\[(]?\s*+{NAME}\(")
_FIRST_COMMENTS = re.compile(r"\A(?>(?:\s*+#[^\n]*+\n)+)")
_CALLED_NAME = re.compile(rf"\b({NAME})\(")
_LINE = re.compile(rf"^[ \t]*+`?(?P<call>\[?[ \t]*+(?P<name>{NAME})\()", re.MULTILINE)


def decode(text: str, tools: Sequence[Tool] = ()) -> Calls:
    """Read the calls. Text that was meant as a call and cannot be read is malformed."""
    offered = tools_by_name(tools)
    collector = CallCollector()
    thinking, text = split_thinking(text)
    collector.skip_thinking(thinking)
    text = _TOKENS.sub("\n", text)
    if FENCE not in text:
        text = _without_backticks(text.strip())
        if not collect_only_calls(text, offered, collector):
            _read_lines(text, offered, collector)
        return collector.result()
    pieces = list(markdown_pieces(text))
    has_prose = any(piece.info is None and piece.text.strip() for piece in pieces)
    for piece in pieces:
        if piece.info is None:
            _read_lines(piece.text, offered, collector)
        else:
            _read_block(piece, offered, collector, has_prose=has_prose)
    return collector.result()


def collect_only_calls(text: str, offered: Mapping[str, Tool], collector: CallCollector) -> bool:
    """Collect the calls of a text that contains nothing else. Returns whether it is such a text."""
    try:
        nodes = call_nodes(text)
    except NotPython:
        return False
    if nodes is not None:
        collect_calls(nodes, offered, collector)
    return nodes is not None


def call_nodes(source: str) -> list[ast.expr] | None:
    """Give the nodes of a text of calls and nothing else, none for an empty list; None for any other text.

    Raises NotPython where the text begins with a call and cannot be read.
    """
    if not _FIRST_CALL.match(source):
        return [] if source.replace(" ", "") == "[]" else None
    trees = [parse_expression(statement) for statement in statements(source)]
    nodes = [node for tree in trees for node in (tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree])]
    return nodes if any(isinstance(node, ast.Call) for node in nodes) else None


def collect_calls(nodes: Sequence[ast.expr], offered: Mapping[str, Tool], collector: CallCollector) -> None:
    """Collect each of the nodes that `call_nodes` gave."""
    for node in nodes:
        collector.add_call(partial(read_call_node, node, offered))


def read_call_node(
    node: ast.expr, tools: Mapping[str, Tool], read: ReadArgument = literal
) -> tuple[Call, tuple[str, ...]]:
    """Read `name(a=1)` or `dotted.name("x")`, with notes on what was read leniently. Raises Unreadable.

    Positional arguments take the names of the tool's parameters, in the order of its schema.
    """
    if not isinstance(node, ast.Call) or (name := dotted_name(node.func)) is None:
        raise Unreadable("it is not a tool call")
    positional = [_argument_value(name, f"number {number}", item, read) for number, item in enumerate(node.args, 1)]
    named: dict[str, Json] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise Unreadable(f"{quote_short(name)} is called with `**`, which names no argument")
        if keyword.arg in named:
            raise Unreadable(f"the argument {quote_short(keyword.arg)} of {quote_short(name)} is given twice")
        named[keyword.arg] = _argument_value(name, quote_short(keyword.arg), keyword.value, read)
    arguments, notes = named_arguments(name, positional, named, tools)
    return Call(name, arguments), (*notes, *repeated_dict_keys(node))


def dotted_name(node: ast.expr) -> str | None:
    """Give the name in `f` or `a.b.f`, None for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else None


def _argument_value(name: str, argument: str, node: ast.expr, read: ReadArgument) -> Json:
    try:
        return read(node)
    except Unreadable as error:
        raise Unreadable(f"the argument {argument} of {quote_short(name)} cannot be read: {error}") from None


def _read_block(
    block: MarkdownPiece, offered: Mapping[str, Tool], collector: CallCollector, *, has_prose: bool
) -> None:
    text = _FIRST_COMMENTS.sub("", block.text).strip()
    try:
        nodes, error = (call_nodes(text) if block.info in _BLOCKS else None), "it contains more than calls"
    except NotPython as reason:
        nodes, error = None, str(reason)
    if nodes is not None and (
        not has_prose or not offered or _any_offered(nodes, offered) or _LIST_OF_CALLS.match(text)
    ):
        collect_calls(nodes, offered, collector)
        if not block.closed:
            collector.add_note("The fenced block is not closed.")
    elif nodes is None and block.info in _BLOCKS and _was_meant_as_call(text, offered):
        collector.add_fault(f"A fenced block cannot be read as calls: {error}.")
    else:
        collector.skip_prose(text)


def _read_lines(text: str, offered: Mapping[str, Tool], collector: CallCollector) -> None:
    """Read the calls on lines of their own; all else is prose."""
    start = at = 0
    while not collector.is_full and (line := _LINE.search(text, at)):
        first = line.start("call")
        at = line.end()
        if not _is_offered(line["name"], offered) and not _LIST_OF_CALLS.match(text, first):
            continue
        try:
            end = expression_end(text, first)
        except NotPython as error:
            collector.add_fault(f"A call of {quote_short(line['name'])} cannot be read: {error}.")
            _skip_prose(text[start : line.start()], offered, collector)
            return
        at = len(text) if (newline := text.find("\n", end)) < 0 else newline
        if not text[end:at].strip(" \t\r;,`"):
            _skip_prose(text[start : line.start()], offered, collector)
            _read_line(text[first:end], offered, collector)
            start = at
    _skip_prose(text[start:], offered, collector)


def _read_line(source: str, offered: Mapping[str, Tool], collector: CallCollector) -> None:
    try:
        nodes, error = call_nodes(source), "it contains more than calls"
    except NotPython as reason:
        nodes, error = None, "its underscores are escaped, as in Markdown" if r"\_" in source else str(reason)
    if nodes is None:
        collector.add_fault(f"The line {quote_short(source)} cannot be read as a call: {error}.")
    else:
        collect_calls(nodes, offered, collector)


def _skip_prose(text: str, offered: Mapping[str, Tool], collector: CallCollector) -> None:
    """Skip prose. A list of calls of offered tools in it is a fault: prose does not contain such a list."""
    collector.skip_prose(text)
    lists = (each for each in _LIST_OF_CALLS.finditer(text) if not offered or _is_offered(each["name"], offered))
    if first := next(lists, None):
        shown = quote_short(text[first.start() : first.start() + 60])
        collector.add_fault(f"A list of calls inside other text cannot be read: {shown}.")


def _is_offered(name: str, offered: Mapping[str, Tool]) -> bool:
    return name.replace("\\", "") in offered


def _any_offered(nodes: Sequence[ast.expr], offered: Mapping[str, Tool]) -> bool:
    return any(isinstance(node, ast.Call) and dotted_name(node.func) in offered for node in nodes)


def _was_meant_as_call(text: str, offered: Mapping[str, Tool]) -> bool:
    """Whether text that cannot be read looks like calls of tools."""
    return bool(_LIST_OF_CALLS.match(text)) or any(name in offered for name in _CALLED_NAME.findall(text))


def _without_backticks(text: str) -> str:
    return text[1:-1].strip() if len(text) > 2 and text[0] == text[-1] == "`" else text
