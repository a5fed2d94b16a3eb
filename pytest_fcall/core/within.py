"""The operators that a case holds, wherever they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_fcall.core.case import Case
from pytest_fcall.core.expectation import CallPattern, Expectation, ExpectedCall
from pytest_fcall.core.pattern import Operator, Pattern


def operators_of(case: Case) -> Iterator[Operator]:
    """Give every operator in what a case expects, allows and forbids, and in its rules."""
    for turn in case.turns:
        if turn.expect is not None:
            yield from _of_expectation(turn.expect)
        yield from operators_in([turn.answer, turn.state, turn.result])
    if case.wire is not None:
        wire = case.wire
        yield from operators_in([wire.count, wire.tools, wire.models, wire.tokens, wire.cost])
        yield from _of_expectation(wire.calls or Expectation())
    yield from operators_in([rule.operator for rule in case.rules.match])
    yield from _of_calls(case.rules.never)


def operators_in(pattern: Pattern) -> Iterator[Operator]:
    """Give every operator in a pattern, however deep; what stands in `$literal` is none."""
    waiting = [pattern]
    while waiting:
        match waiting.pop():
            case Operator() as operator:
                yield operator
                if operator.name != "literal":
                    waiting += [operator.operand, *operator.options.values()]
            case Mapping() as mapping:
                waiting += mapping.values()
            case list() | tuple() as items:
                waiting += items


def _of_expectation(expectation: Expectation) -> Iterator[Operator]:
    for stage in expectation.stages:
        yield from _of_calls(stage)
    yield from _of_calls((*expectation.allow, *expectation.never))
    for alternative in expectation.alternatives:
        yield from _of_expectation(alternative)


def _of_calls(calls: tuple[ExpectedCall | CallPattern, ...]) -> Iterator[Operator]:
    for call in calls:
        yield from operators_in(call.arguments)
        if isinstance(call, ExpectedCall):
            yield from operators_in(call.result)
