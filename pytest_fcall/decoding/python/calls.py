"""Calls written as Python: `[f(a=1), g(b=2)]`, `f(a=1)`, several on lines of their own; fenced, or beside prose.

Either the whole text is calls, or a fenced block is, or a line. Beside prose a line `f(…)` counts only where `f` was
offered, and a block only where one of its calls was; a list of calls in brackets always counts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from functools import partial

from pytest_fcall.core.call import Calls
from pytest_fcall.core.tool import Tool
from pytest_fcall.decoding.answer import parted
from pytest_fcall.decoding.call_marks import LIST_OF_CALLS, NAME
from pytest_fcall.decoding.fences import FENCE, Piece, pieces
from pytest_fcall.decoding.gathering import Gathering
from pytest_fcall.decoding.positional import by_name
from pytest_fcall.decoding.python.call import call_of, dotted
from pytest_fcall.decoding.python.scanning import end_of, statements
from pytest_fcall.decoding.python.source import NotPython, parse_expression
from pytest_fcall.decoding.wording import shortened

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
    offered = by_name(tools)
    found = Gathering()
    thought, text = parted(text)
    found.thought(thought)
    text = _TOKENS.sub("\n", text)
    if FENCE not in text:
        _read_text(_unquoted(text.strip()), offered, found)
        return found.result()
    parts = list(pieces(text))
    alone = not any(part.info is None and part.text.strip() for part in parts)
    for part in parts:
        if part.info is None:
            _read_lines(part.text, offered, found)
        else:
            _read_block(part, offered, found, alone=alone)
    return found.result()


def calls_in(source: str) -> list[ast.expr] | None:
    """Give the items of a text that is calls and nothing else, or an empty list; None where it is anything else.

    Raises NotPython where it begins with a call and cannot be read.
    """
    if not _FIRST_CALL.match(source):
        return [] if source.replace(" ", "") == "[]" else None
    trees = [parse_expression(statement) for statement in statements(source)]
    items = [item for tree in trees for item in (tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree])]
    return items if any(isinstance(item, ast.Call) for item in items) else None


def _read_text(text: str, offered: Mapping[str, Tool], found: Gathering) -> None:
    try:
        items = calls_in(text)
    except NotPython:
        items = None
    if items is None:
        _read_lines(text, offered, found)
    else:
        take(items, offered, found)


def _read_block(block: Piece, offered: Mapping[str, Tool], found: Gathering, *, alone: bool) -> None:
    text = _FIRST_COMMENTS.sub("", block.text).strip()
    try:
        items, error = (calls_in(text) if block.info in _BLOCKS else None), "it holds more than calls"
    except NotPython as reason:
        items, error = None, str(reason)
    if items is not None and (alone or not offered or _any_offered(items, offered) or LIST_OF_CALLS.match(text)):
        take(items, offered, found)
        if not block.closed:
            found.note("The fenced block is not closed.")
    elif items is None and block.info in _BLOCKS and _is_meant(text, offered):
        found.fault(f"A fenced block cannot be read as calls: {error}.")
    else:
        found.prose(text)


def _read_lines(text: str, offered: Mapping[str, Tool], found: Gathering) -> None:
    """Read the calls on lines of their own; all else is prose."""
    start = at = 0
    while not found.is_full and (line := _LINE.search(text, at)):
        first = line.start("call")
        at = line.end()
        if not _is_offered(line["name"], offered) and not LIST_OF_CALLS.match(text, first):
            continue
        try:
            end = end_of(text, first)
        except NotPython as error:
            found.fault(f"A call of {shortened(line['name'])} cannot be read: {error}.")
            _leave(text[start : line.start()], offered, found)
            return
        at = len(text) if (newline := text.find("\n", end)) < 0 else newline
        if not text[end:at].strip(" \t\r;,`"):
            _leave(text[start : line.start()], offered, found)
            _read_line(text[first:end], offered, found)
            start = at
    _leave(text[start:], offered, found)


def _read_line(source: str, offered: Mapping[str, Tool], found: Gathering) -> None:
    try:
        items, error = calls_in(source), "it holds more than calls"
    except NotPython as reason:
        items, error = None, "its underscores are escaped, as in Markdown" if r"\_" in source else str(reason)
    if items is None:
        found.fault(f"The line {shortened(source)} cannot be read as a call: {error}.")
    else:
        take(items, offered, found)


def _leave(text: str, offered: Mapping[str, Tool], found: Gathering) -> None:
    """Leave out prose, unless it holds a list of calls of offered tools: nobody says such a thing."""
    found.prose(text)
    lists = (each for each in LIST_OF_CALLS.finditer(text) if not offered or _is_offered(each["name"], offered))
    if said := next(lists, None):
        shown = shortened(text[said.start() : said.start() + 60])
        found.fault(f"A list of calls cannot be read where it stands: {shown}.")


def _is_offered(name: str, offered: Mapping[str, Tool]) -> bool:
    return name.replace("\\", "") in offered


def _any_offered(items: Sequence[ast.expr], offered: Mapping[str, Tool]) -> bool:
    return any(isinstance(item, ast.Call) and dotted(item.func) in offered for item in items)


def _is_meant(text: str, offered: Mapping[str, Tool]) -> bool:
    """Whether text that cannot be read was to call a tool."""
    return bool(LIST_OF_CALLS.match(text)) or any(name in offered for name in _CALLED.findall(text))


def take(items: Sequence[ast.expr], offered: Mapping[str, Tool], found: Gathering) -> None:
    """Read each of the items that `calls_in` gave."""
    for item in items:
        found.call(partial(call_of, item, offered))


def _unquoted(text: str) -> str:
    return text[1:-1].strip() if len(text) > 2 and text[0] == text[-1] == "`" else text
