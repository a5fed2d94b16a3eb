"""Native calls: one dict a call, its arguments JSON text."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from tests.conformance.generated.calls import Call
from tests.conformance.generated.chances import chance, one_made, one_of
from tests.conformance.generated.values import any_value

ARGUMENTS = (
    "",
    "null",
    "[]",
    "5",
    '"text"',
    "{",
    "{}",
    '{"a": 1} x',
    "{'a': 1}",
    '{"a": 1,}',
    '{"a": 1, "a": 2}',
    '{"a": NaN, "b": -Infinity}',
    '{"a": 1e400}',
    '{"a": 1.0, "b": 1E2, "c": -0}',
    '{"a": 01}',
    '{"a": "\\ud800"}',
    '{"a": "\n"}',
    '{"a": "\\u00"}',
    "\ufeff{}",
    " {} ",
    '{"\\u0061": 1}',
    '"{\\"a\\": 1}"',
)


def written(draw: st.DrawFn, calls: Sequence[Call]) -> Any:
    """The raw answer."""
    made: list[Any] = [{name: _arguments(draw, arguments)} for name, arguments in calls]
    if not chance(draw, 12):
        return made
    shapes: tuple[Callable[[], Any], ...] = (
        lambda: "I cannot help with that.",
        lambda: json.dumps(made),
        lambda: "",
        lambda: None,
        list,
        lambda: [{}],
        lambda: [*made, {}],
        lambda: made[0] if made else {},
        lambda: [dict(pair for each in made for pair in each.items())],
        lambda: [*made, None],
        lambda: [list(each.items()) for each in made],
        lambda: [*made, "text"],
        lambda: {"error": "no"},
        lambda: any_value(draw),
    )
    return one_made(draw, shapes)


def _arguments(draw: st.DrawFn, arguments: dict[str, Any]) -> Any:
    if chance(draw, 95):
        return json.dumps(arguments, ensure_ascii=draw(st.booleans()))
    return one_made(draw, (lambda: one_of(draw, ARGUMENTS), lambda: arguments, lambda: any_value(draw)))
