"""The part of right calls that the expectation constrains, without all that it leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pytest_fcall.core import Call, Expectation, ExpectedCall, Json, Rules, Verdict
from pytest_fcall.core.expectation import chosen_alternative
from pytest_fcall.core.glob import glob_matches
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.schema.value_text import path_text

_OPEN: Final = "…"
"""Stands in a list for an item that is left open."""

ConstrainedCalls = Mapping[int, Sequence[Call]]
"""By the expected calls that they are paired with."""


def constrained_calls(
    expectation: Expectation | None, verdict: Verdict, calls: Sequence[Call], rules: Rules
) -> ConstrainedCalls:
    """Take out of `calls`, which the verdict found right, everything that may be otherwise.

    Left out are calls that are merely allowed, arguments that are free, and values where an operator stands.
    """
    if expectation is None:
        return {}
    expected = [call for stage in chosen_alternative(expectation, verdict.alternative).stages for call in stage]
    found: dict[int, list[Call]] = {}
    for place, index in sorted(verdict.pairs, key=lambda pair: pair[1]):
        found.setdefault(place, []).append(_constrained_call(expected[place], calls[index], rules))
    return found


def _constrained_call(expected: ExpectedCall, made: Call, rules: Rules) -> Call:
    patterns = expected.arguments
    if patterns is None:
        return Call(expected.tool, {})
    named = {name: value for name, value in made.arguments.items() if name in patterns or not expected.open}
    return Call(expected.tool, dict(_Place(f"{made.name}.", rules).inside(patterns, named)))


class _Place:
    """Where the rules of `match:` are looked up."""

    def __init__(self, tool: str, rules: Rules, keys: tuple[str | int, ...] = ()) -> None:
        self._tool = tool
        self._rules = rules
        self._keys = keys

    def inside(self, patterns: Mapping[str, Pattern], values: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
        """What is closed of the values of a mapping; one without a pattern is, such as a default spelled out."""
        for name, value in values.items():
            below = self._below(name)
            if not below.is_open(patterns.get(name)):
                yield name, below.closed(patterns[name], value) if name in patterns else value

    def is_open(self, pattern: Pattern) -> bool:
        """Whether the pattern, or a rule for this place, leaves open what stands here."""
        if isinstance(pattern, Operator):
            return pattern.name != "literal"
        operators = [rule.path for rule in self._rules.match if rule.operator is not None]
        return bool(operators) and any(glob_matches(path, f"{self._tool}{path_text(self._keys)}") for path in operators)

    def closed(self, pattern: Pattern, value: Json) -> Json:
        """The value without what is open in it."""
        if isinstance(pattern, Mapping) and isinstance(value, Mapping):
            return dict(self.inside(pattern, value))
        if isinstance(pattern, list | tuple) and isinstance(value, list | tuple) and len(pattern) == len(value):
            return [self._item(index, pattern[index], value[index]) for index in range(len(value))]
        return value

    def _item(self, index: int, pattern: Pattern, value: Json) -> Json:
        below = self._below(index)
        return _OPEN if below.is_open(pattern) else below.closed(pattern, value)

    def _below(self, key: str | int) -> _Place:
        return _Place(self._tool, self._rules, (*self._keys, key))
