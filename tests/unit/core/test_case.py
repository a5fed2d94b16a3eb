from __future__ import annotations

import pytest

from pytest_fcall.core import (
    CallPattern,
    Case,
    Expectation,
    ExpectedCall,
    Location,
    MatchRule,
    Operator,
    Pattern,
    Rules,
    Turn,
)
from pytest_fcall.core.case import case_operators
from pytest_fcall.core.operators import pattern_operators

FOUND = Operator("judge", "is polite")


def calls(argument: Pattern) -> Expectation:
    return Expectation(stages=((ExpectedCall("f", None), ExpectedCall("f", {"x": argument})),))


@pytest.mark.parametrize(
    "turn",
    [
        Turn((), calls(FOUND)),
        Turn((), calls({"a": [1, FOUND]})),
        Turn((), Expectation(kind="any_of", alternatives=(Expectation("no_call"), calls(FOUND)))),
        Turn((), Expectation(never=(CallPattern("g"), CallPattern("f", {"x": FOUND})))),
        Turn((), Expectation(allow=(CallPattern("f", {"x": FOUND}),))),
        Turn((), answer=FOUND),
        Turn((), state={"orders": [FOUND]}),
        Turn((), result=FOUND),
    ],
)
def test_an_operator_is_found_wherever_a_turn_may_hold_one(turn: Turn) -> None:
    assert list(case_operators(Case("one", Location(""), (Turn(()), turn)))) == [FOUND]


@pytest.mark.parametrize(
    "rules", [Rules(match=(MatchRule("*.x", FOUND),)), Rules(never=(CallPattern("f", {"x": FOUND}),))]
)
def test_an_operator_is_found_in_the_rules_of_a_case(rules: Rules) -> None:
    assert list(case_operators(Case("one", Location(""), (Turn(()),), rules=rules))) == [FOUND]


def test_operators_are_found_inside_operators_but_not_in_a_literal() -> None:
    names = [
        each.name for each in pattern_operators(Operator("not", Operator("any", [FOUND, Operator("literal", [FOUND])])))
    ]
    assert sorted(names) == ["any", "judge", "literal", "not"]


def test_nothing_is_too_deep() -> None:
    pattern: Pattern = FOUND
    for _ in range(100_000):
        pattern = [pattern]
    assert list(pattern_operators(pattern)) == [FOUND]
