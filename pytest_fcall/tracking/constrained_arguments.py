"""The parts of right calls that the expectation constrains; only these can drift."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pytest_fcall.core import Call, Expectation, ExpectedCall, Json, Rules, Verdict
from pytest_fcall.core.bounded_text import glob_matches
from pytest_fcall.core.expectation import chosen_alternative
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.values import path_text

_OPEN: Final = "…"
"""Replaces an unconstrained item of a list."""


def constrained_calls(
    expectation: Expectation | None, verdict: Verdict, calls: Sequence[Call], rules: Rules
) -> Mapping[int, Sequence[Call]]:
    """The constrained parts of right calls, by the index of the expected call.

    Left out are calls that are only allowed, arguments that are free, and values for which the case has an operator.
    """
    if expectation is None:
        return {}
    expected = [call for stage in chosen_alternative(expectation, verdict.alternative).stages for call in stage]
    constrained: dict[int, list[Call]] = {}
    for place, index in sorted(verdict.pairs, key=lambda pair: pair[1]):
        constrained.setdefault(place, []).append(_constrained_call(expected[place], calls[index], rules))
    return constrained


def _constrained_call(expected: ExpectedCall, made: Call, rules: Rules) -> Call:
    patterns = expected.arguments
    if patterns is None:
        return Call(expected.tool, {})
    operators = tuple(rule.path for rule in rules.match if rule.operator is not None)
    named = {name: value for name, value in made.arguments.items() if name in patterns or not expected.open}
    return Call(expected.tool, dict(_Place(f"{made.name}.", operators).constrained_items(patterns, named)))


class _Place:
    """A place in the arguments of a call. `operators` are the paths for which `match:` has an operator."""

    def __init__(self, tool: str, operators: Sequence[str], keys: tuple[str | int, ...] = ()) -> None:
        self._tool = tool
        self._operators = operators
        self._keys = keys

    def constrained_items(
        self, patterns: Mapping[str, Pattern], values: Mapping[str, Json]
    ) -> Iterator[tuple[str, Json]]:
        """The constrained values of a mapping; a value without a pattern is one, such as a default written out."""
        for name, value in values.items():
            below = self._below(name)
            if not below.is_open(patterns.get(name)):
                yield name, below.constrained_value(patterns[name], value) if name in patterns else value

    def is_open(self, pattern: Pattern) -> bool:
        """Whether the pattern here, or a rule for this place, is an operator."""
        if isinstance(pattern, Operator):
            return pattern.name != "literal"
        if not self._operators:
            return False
        place = f"{self._tool}{path_text(self._keys)}"
        return any(glob_matches(path, place) for path in self._operators)

    def constrained_value(self, pattern: Pattern, value: Json) -> Json:
        """The value without its unconstrained parts."""
        if isinstance(pattern, Mapping) and isinstance(value, Mapping):
            return dict(self.constrained_items(pattern, value))
        if isinstance(pattern, list | tuple) and isinstance(value, list | tuple) and len(pattern) == len(value):
            return [self._item(index, pattern[index], value[index]) for index in range(len(value))]
        return value

    def _item(self, index: int, pattern: Pattern, value: Json) -> Json:
        below = self._below(index)
        return _OPEN if below.is_open(pattern) else below.constrained_value(pattern, value)

    def _below(self, key: str | int) -> _Place:
        return _Place(self._tool, self._operators, (*self._keys, key))
