"""Expected values, settled by a verdict: plain values that can be counted, whatever operators stood there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import nan
from typing import Final, TypeAlias

from pytest_fcall.core.call import Call
from pytest_fcall.core.expectation import Expectation, ExpectedCall, chosen
from pytest_fcall.core.pattern import Operator, Pattern
from pytest_fcall.core.values import Json
from pytest_fcall.core.verdict import Verdict
from pytest_fcall.schema.words import path_text

UNMET: Final = nan
"""Stands for an operator that was not met: it equals nothing, and no model can say it."""

Leaves: TypeAlias = dict[tuple[str, ...], Json]
"""The values of an object and of the objects in it, by their keys."""


def settled_calls(
    expectation: Expectation, made: Sequence[Call], verdict: Verdict
) -> tuple[list[Call], list[Call]] | None:
    """Give the calls that are right and the calls made; None where the case does not say which are right.

    Of alternatives, that one counts which the verdict speaks of. An argument that the verdict found right has the value
    that was given. What may be left out and is, or is given though the case does not name it, counts on neither side.
    """
    taken = chosen(expectation, verdict.alternative)
    if taken.kind == "any_call":
        return None
    expected = [call for stage in taken.stages for call in stage]
    wrong = _Wrong(verdict)
    pairs = [pair for pair in sorted(verdict.pairs) if _is_same_tool(*pair, expected, made)]
    right = [call for place, each in enumerate(expected) for call in _right(place, each, pairs, made, wrong)]
    expected_of = {index: expected[place] for place, index in pairs}
    return right, [_made(call, index, expected_of.get(index), wrong) for index, call in enumerate(made)]


def settled_state(expected: Mapping[str, Pattern], state: Json, verdict: Verdict) -> tuple[Leaves, Leaves]:
    """Give what a state should have held and what it holds, key by key, however deep. Operators as above.

    What is no object, as where the conversation did not come to its end, holds nothing.
    """
    if not isinstance(state, Mapping):
        return dict(_leaves(_plain(expected), ())), {}
    return dict(_right_leaves(expected, state, (), _Wrong(verdict))), dict(_leaves(state, ()))


class _Wrong:
    """Where a verdict found something wrong."""

    def __init__(self, verdict: Verdict) -> None:
        self._paths = [reason.path for reason in verdict.reasons]

    def at(self, *keys: str | int) -> bool:
        """Whether something is wrong there or inside, or with all arguments together."""
        if not self._paths:
            return False
        path = path_text(keys)
        whole = path_text(keys[:3]) if keys[0] == "calls" else path
        return any(each in (path, whole) or each.startswith((f"{path}.", f"{path}[")) for each in self._paths)


def _is_same_tool(place: int, index: int, expected: Sequence[ExpectedCall], made: Sequence[Call]) -> bool:
    return place < len(expected) and index < len(made) and expected[place].tool == made[index].name


def _right(
    place: int, expected: ExpectedCall, pairs: Sequence[tuple[int, int]], made: Sequence[Call], wrong: _Wrong
) -> Iterator[Call]:
    """An expected call as often as it was made, and as it must be at least."""
    patterns = expected.arguments or {}
    indexes = [index for other, index in pairs if other == place]
    for index in indexes:
        yield Call(expected.tool, dict(_arguments(patterns, made[index].arguments, index, wrong)))
    for _ in range(expected.times[0] - len(indexes)):
        yield Call(expected.tool, {name: _plain(value) for name, value in patterns.items() if not _is_free(value)})


def _arguments(
    patterns: Mapping[str, Pattern], given: Mapping[str, Json], index: int, wrong: _Wrong
) -> Iterator[tuple[str, Json]]:
    for name, pattern in patterns.items():
        if wrong.at("calls", index, "args", name):
            yield name, _plain(pattern)
        elif name in given and not _is_ignored(pattern):
            yield name, given[name]


def _made(call: Call, index: int, expected: ExpectedCall | None, wrong: _Wrong) -> Call:
    """A call without the arguments that do not matter: nobody asked for them, and nothing is wrong with them."""
    if expected is None:
        return call
    asked = {name for name, value in (expected.arguments or {}).items() if not _is_ignored(value)}
    kept = {
        name: value for name, value in call.arguments.items() if name in asked or wrong.at("calls", index, "args", name)
    }
    return Call(call.name, kept)


def _right_leaves(
    expected: Mapping[str, Pattern], got: Mapping[str, Json], above: tuple[str, ...], wrong: _Wrong
) -> Iterator[tuple[tuple[str, ...], Json]]:
    for name, pattern in expected.items():
        keys, value = (*above, name), got.get(name)
        if isinstance(pattern, Mapping) and isinstance(value, Mapping):
            yield from _right_leaves(pattern, value, keys, wrong)
        elif wrong.at("state", *keys):
            yield from _leaves(_plain(pattern), keys)
        elif name in got:
            yield from _leaves(value, keys)


def _leaves(value: Json, keys: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Json]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, (*keys, name))
    else:
        yield keys, value


def _plain(pattern: Pattern) -> Json:
    """A pattern that was not met, as a value."""
    match pattern:
        case Operator("literal", value):
            return _plain(value)
        case Operator():
            return UNMET
        case Mapping():
            return {name: _plain(value) for name, value in pattern.items()}
        case str() | int() | float() | None:
            return pattern
    return [_plain(item) for item in pattern]


def _is_free(pattern: Pattern) -> bool:
    return isinstance(pattern, Operator) and pattern.name in ("ignore", "optional")


def _is_ignored(pattern: Pattern) -> bool:
    return isinstance(pattern, Operator) and pattern.name == "ignore"
