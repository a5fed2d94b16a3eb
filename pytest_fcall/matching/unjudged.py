"""What a model has to judge, let in: while a conversation goes on nobody asks the judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from pytest_fcall.core.expectation import CallPattern, Expectation, ExpectedCall
from pytest_fcall.core.pattern import Operator, Pattern
from pytest_fcall.core.rules import MatchRule, Rules
from pytest_fcall.core.within import operators_in

_ANYTHING: Final = Operator("ignore", True)


def unjudged_rules(rules: Rules) -> Rules:
    """The rules as if the judge had nothing against any value."""
    return replace(rules, match=tuple(map(_rule, rules.match)), never=_decided(rules.never))


def unjudged(expectation: Expectation) -> Expectation:
    """The same of an expectation. Calls are forbidden only where that does not depend on the judge."""
    return replace(
        expectation,
        stages=tuple(tuple(map(_call, stage)) for stage in expectation.stages),
        allow=tuple(replace(each, arguments=_let_in(each.arguments)) for each in expectation.allow),
        never=_decided(expectation.never),
        alternatives=tuple(map(unjudged, expectation.alternatives)),
    )


def _rule(rule: MatchRule) -> MatchRule:
    return replace(rule, operator=_ANYTHING) if _is_judged(rule.operator) else rule


def _call(expected: ExpectedCall) -> ExpectedCall:
    return replace(expected, arguments=_let_in(expected.arguments))


def _let_in(arguments: Mapping[str, Pattern] | None) -> Mapping[str, Pattern] | None:
    if arguments is None:
        return None
    return {name: _ANYTHING if _is_judged(value) else value for name, value in arguments.items()}


def _decided(never: tuple[CallPattern, ...]) -> tuple[CallPattern, ...]:
    return tuple(each for each in never if not _is_judged(each.arguments))


def _is_judged(pattern: Pattern) -> bool:
    return any(operator.name == "judge" for operator in operators_in(pattern))
