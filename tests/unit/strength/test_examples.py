from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from pytest_fcall.core import OPERATORS, Operator, Rules, Tool
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.values import compare_outside_calls
from pytest_fcall.schema.tool_schema import tool_schema
from pytest_fcall.strength.examples import ExampleSources, NoExample, Spot, example
from pytest_fcall.strength.samples import expression_samples, numbers_of_question, schema_sample, words_of_question
from tests.unit.strength.measured import read_cases

CLOCK = Rules(now=datetime.fromisoformat("2026-11-20T09:00:00+01:00"))
KNOWN = ExampleSources(("Oslo", "Main Street 5"), (7, 2.5))
SPOT = Spot(MatchContext((), CLOCK), KNOWN)
EXAMPLES: dict[str, list[Operator]] = {
    "any": [Operator("any", ["a", "b"]), Operator("any", [Operator("regex", "(?!x)x"), "b"])],
    "all": [
        Operator("all", [Operator("contains", "dish"), Operator("contains", "crack")]),
        Operator("all", [Operator("gt", 3), Operator("lt", 4)]),
        Operator("all", [Operator("subset", ["a"]), Operator("contains", "b")]),
        Operator("all", [Operator("subset", {"a": 1}), Operator("subset", {"b": 2})]),
    ],
    "not": [Operator("not", "a"), Operator("not", Operator("contains", "Oslo"))],
    "optional": [Operator("optional", "a")],
    "ignore": [Operator("ignore", True)],
    "regex": [
        Operator("regex", r"[A-Z]{2}-\d{3,}(x|y)?"),
        Operator("regex", "[^a]+"),
        Operator("regex", r"\w+@\w+\.org"),
    ],
    "contains": [Operator("contains", "a"), Operator("contains", Operator("gt", 3))],
    "text": [Operator("text", "two adults")],
    "number": [Operator("number", 12)],
    "normalised": [Operator("normalised", "The End.")],
    "approx": [Operator("approx", 4.2, {"within": "10%"})],
    "gt": [Operator("gt", 3)],
    "ge": [Operator("ge", 3)],
    "lt": [Operator("lt", 3)],
    "le": [Operator("le", 3)],
    "between": [Operator("between", [1, 2]), Operator("between", [5, 5])],
    "date": [Operator("date", day) for day in ("today", "yesterday", "monday", "+3d", "-2w", "+400d", "2026-12-24")],
    "datetime": [
        Operator("datetime", "2026-11-21T16:30:00+01:00"),
        Operator("datetime", {"day": "tomorrow", "from": "12:00", "to": "17:00"}),
        Operator("datetime", {"day": "friday", "from": "22:00", "to": "02:00"}),
        Operator("datetime", {"day": "today"}),
    ],
    "type": [Operator("type", name) for name in ("string", "integer", "number", "boolean", "array", "object", "null")],
    "structure": [Operator("structure", {"a": [1], "b": "x"})],
    "subset": [Operator("subset", {"a": Operator("gt", 1)}), Operator("subset", ["a"])],
    "unordered": [Operator("unordered", ["a", Operator("contains", "b")])],
    "ordered": [Operator("ordered", ["a", 2])],
    "each": [Operator("each", Operator("type", "string"))],
    "json": [Operator("json", {"a": [1, Operator("gt", 2)]})],
    "literal": [Operator("literal", {"$gt": 1})],
}
WITHOUT = {"from", "judge", "rouge"}
"""Operators whose values only a run, a model or another library knows."""


def test_every_operator_is_thought_of() -> None:
    assert EXAMPLES.keys() | WITHOUT == OPERATORS.keys()


@pytest.mark.parametrize("operator", [each for examples in EXAMPLES.values() for each in examples])
def test_the_example_of_an_operator_is_accepted_by_it(operator: Operator) -> None:
    value = example(operator, SPOT)
    assert compare_outside_calls(operator, value, (), SPOT.context) == []


@pytest.mark.parametrize(
    "operator",
    [Operator("regex", "(?!x)x"), Operator("judge", "a friend"), Operator("my_own", 1), Operator("ignore", True)],
)
def test_nothing_is_made_up_where_nothing_is_known(operator: Operator) -> None:
    with pytest.raises(NoExample, match=f"no value is known that `\\${operator.name}` accepts"):
        example(operator, Spot(SPOT.context, ExampleSources()))


def test_an_accepted_value_comes_first_then_the_question_then_what_is_made_up() -> None:
    operator = Operator("regex", "[A-Z].*")
    accepted = ExampleSources(("Oslo",), (), {("t", ("a",)): ["Bergen"]})
    spots = [
        Spot(SPOT.context, known, "t", None, ("a",))
        for known in (accepted, ExampleSources(("Oslo",)), ExampleSources())
    ]
    assert [example(operator, spot) for spot in spots] == ["Bergen", "Oslo", "A"]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"const": 3}, 3),
        ({"enum": ["a", "b"]}, "a"),
        ({"type": "string", "examples": ["x"]}, "x"),
        ({"type": "string", "default": "d"}, "d"),
        ({"type": "string", "format": "date"}, "2026-11-21"),
        ({"type": "string", "pattern": r"^\d{3}$"}, "111"),
        ({"type": "string", "maxLength": 1}, "a"),
        ({"type": "integer", "minimum": 100}, 100),
        ({"type": "number", "exclusiveMaximum": 1}, 0),
        ({"type": "array", "items": {"type": "boolean"}, "minItems": 2}, [True, True]),
        ({"type": "object", "properties": {"k": {"enum": [5]}}, "required": ["k"]}, {"k": 5}),
        ({"anyOf": [{"type": "null"}, {"type": "boolean"}]}, True),
    ],
)
def test_a_value_that_a_schema_allows_is_found(schema: dict[str, Any], value: Any) -> None:
    compiled = tool_schema(Tool("t", parameters={"type": "object", "properties": {"a": schema}}))
    fitting = [each for each in schema_sample(schema) if not compiled.check_at(("a",), each)]
    assert fitting[0] == value


def test_expressions_of_other_kinds_have_no_sample() -> None:
    assert list(expression_samples("(")) == []
    assert list(expression_samples(r"\p{L}+")) == []
    assert list(expression_samples("((a{999}){999}){9}")) == []


def test_words_and_numbers_of_a_question_are_found() -> None:
    (case,) = read_cases("""
        cases:
          - {id: one, prompt: 'Create "Team lunch" with Ana Lopez at 12.5, room 3', expect: no_call}
    """)
    assert words_of_question(case)[:3] == ("Team lunch", "Create", "Team")
    assert "Ana Lopez" in words_of_question(case)
    assert numbers_of_question(case) == (12.5, 3)
