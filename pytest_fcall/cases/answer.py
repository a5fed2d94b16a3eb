"""`answer:`, what the model must say at last."""

from __future__ import annotations

import json
from collections.abc import Iterator

from yaml import Node

from pytest_fcall.cases.faults import shown
from pytest_fcall.cases.patterns import pattern
from pytest_fcall.cases.scope import Scope
from pytest_fcall.core import Operator, Pattern


def answer(node: Node, scope: Scope) -> Pattern:
    """Any expected value that a text can be."""
    expected = pattern(node, scope)
    for value in _no_texts(expected):
        hint = (
            f'quote it: "{value}"' if isinstance(value, bool) else f'write `$number: {value}`, or quote it: "{value}"'
        )
        scope.faults.add("wrong-type", node, f"an answer is a text, and {shown(json.dumps(value))} is none", hint)
    return expected


def _no_texts(expected: Pattern) -> Iterator[bool | int | float]:
    """Numbers and booleans that stand where there is only text."""
    match expected:
        case bool() | int() | float():
            yield expected
        case Operator("any" | "all", list() as parts):
            for part in parts:
                yield from _no_texts(part)
        case Operator("contains" | "not" | "optional", inner):
            yield from _no_texts(inner)
