"""Calls of APIs as they are written."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fcall.decoding.python.call import dotted
from pytest_fcall.decoding.python.literals import literal
from pytest_fcall.decoding.python.scanning import end_of
from pytest_fcall.decoding.python.source import NotPython, parse_expression

_MOST_CALLS = 100
_LONGEST = 20_000
"""Characters that are searched: each call that is never closed is followed to the end. Answers have a few thousand."""
_CALL = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?=\()")
_QUOTED = re.compile(r"'([^'\n]*+)'|\"([^\"\n]*+)\"")


@dataclass(frozen=True, slots=True)
class Written:
    """A call as it is written, with its values by place and by name."""

    name: str
    by_place: tuple[object, ...]
    by_name: Mapping[str, object]
    source: str
    anywhere: tuple[str, ...] = ()
    """Texts that must be given, by whatever place or name."""


def calls_in(text: str) -> list[Written]:
    """Read the calls in a text that can be read, in their order; an inner call comes after the one around it."""
    found = []
    text = text[:_LONGEST]
    for match, _ in zip(_CALL.finditer(text), range(_MOST_CALLS), strict=False):
        try:
            source = text[match.start() : end_of(text, match.end())]
            node = parse_expression(source)
        except NotPython:
            continue
        if isinstance(node, ast.Call) and (name := dotted(node.func)):
            found.append(
                Written(
                    name,
                    tuple(_value(each, source) for each in node.args),
                    {each.arg: _value(each.value, source) for each in node.keywords if each.arg},
                    source,
                )
            )
    return found


def known_call(call: str) -> Written | None:
    """Read the call of an entry; None where that cannot be done.

    Some have arguments in an order that Python does not take: of these the quoted texts count, wherever they stand.
    """
    if found := calls_in(call):
        return found[0]
    name, quoted = _CALL.match(call), tuple(text for pair in _QUOTED.findall(call) for text in pair if text)
    return Written(name[0], (), {}, call, quoted) if name and len(quoted) > 1 else None


def _value(node: ast.expr, source: str) -> object:
    """What is no literal counts as its text: there are entries in the data bases that lack quotes."""
    try:
        return literal(node)
    except NotPython:
        return ast.get_source_segment(source, node)
