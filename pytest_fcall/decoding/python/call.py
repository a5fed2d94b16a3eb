"""One call in a tree of Python."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TypeAlias

from pytest_fcall.core.call import Call
from pytest_fcall.core.tool import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.decoding.positional import merged
from pytest_fcall.decoding.python.literals import doubled_keys, literal
from pytest_fcall.decoding.unreadable import Unreadable
from pytest_fcall.decoding.wording import shortened

Reading: TypeAlias = Callable[[ast.expr], Json]
"""Gives the value of an argument, or raises Unreadable."""


def call_of(node: ast.expr, tools: Mapping[str, Tool], read: Reading = literal) -> tuple[Call, tuple[str, ...]]:
    """Read `name(a=1)` or `dotted.name("x")`, with notes; Unreadable says why it cannot be read.

    Positional arguments take the names of the tool's parameters, in the order of its signature.
    """
    if not isinstance(node, ast.Call) or (name := dotted(node.func)) is None:
        raise Unreadable("it is no call of a tool")
    positional = [_value(name, f"number {number}", item, read) for number, item in enumerate(node.args, 1)]
    named: dict[str, Json] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise Unreadable(f"{shortened(name)} is called with `**`, which names no argument")
        if keyword.arg in named:
            raise Unreadable(f"the argument {shortened(keyword.arg)} of {shortened(name)} is given twice")
        named[keyword.arg] = _value(name, shortened(keyword.arg), keyword.value, read)
    arguments, notes = merged(name, positional, named, tools)
    return Call(name, arguments), (*notes, *doubled_keys(node))


def dotted(node: ast.expr) -> str | None:
    """The name in `f` or `a.b.f`; None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else None


def _value(name: str, argument: str, node: ast.expr, read: Reading) -> Json:
    try:
        return read(node)
    except Unreadable as error:
        raise Unreadable(f"the argument {argument} of {shortened(name)} cannot be read: {error}") from None
