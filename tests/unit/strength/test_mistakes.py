from __future__ import annotations

from typing import Any

import pytest

from pytest_fcall.core import Call, Json, Tool
from pytest_fcall.schema.tool_schema import tool_schema
from pytest_fcall.strength.mistakes.arguments import with_value, without_value, wrong_arguments
from pytest_fcall.strength.mistakes.kinds import MISTAKES, SEEN, weight
from pytest_fcall.strength.mistakes.scripts import Neighbours, wrong_counts, wrong_orders, wrong_replies, wrong_tools
from pytest_fcall.strength.mistakes.values import wrong_texts, wrong_values
from pytest_fcall.strength.scripts import ScriptedTurn
from tests.unit.strength.measured import measure


@pytest.mark.parametrize(
    ("right", "declared", "mistake", "wrong"),
    [
        ("celsius", {"enum": ["celsius", "kelvin"]}, "enum member", "kelvin"),
        (True, {}, "boolean flipped", False),
        (True, {}, "type changed", 1),
        (True, {}, "type changed", "true"),
        (1, {}, "type changed", True),
        (1, {}, "type changed", 1.0),
        (10, {}, "type changed", "10"),
        ("10", {}, "type changed", 10),
        (10, {}, "number changed", 11),
        (10, {}, "number changed", 100),
        (10, {}, "sign changed", -10),
        (2.5, {}, "unit changed", 2500.0),
        (["a", "b"], {}, "list order", ["b", "a"]),
        (["a", "b"], {}, "list item dropped", ["b"]),
        (["a"], {}, "list item added", ["a", "a"]),
        (["a"], {}, "nesting changed", "a"),
        ("a", {}, "nesting changed", ["a"]),
        ({"k": 1}, {}, "nesting changed", 1),
        ("a", {}, "null given", None),
    ],
)
def test_values_go_wrong_as_models_get_them_wrong(
    right: Any, declared: dict[str, Any], mistake: str, wrong: Any
) -> None:
    made = [(each.mistake, type(each.value), each.value) for each in wrong_values(right, declared, ())]
    assert (mistake, type(wrong), wrong) in made


@pytest.mark.parametrize(
    ("right", "mistake", "wrong"),
    [
        ("2026-11-21", "date changed", "2026-11-22"),
        ("2026-03-04", "date changed", "2026-04-03"),
        ("2026-11-21", "date changed", "2025-11-21"),
        ("2026-11-21T14:30:00", "date changed", "2026-11-21T02:30:00"),
        ("9999-12-31", "text replaced", "something else"),
        ("F-17", "id changed", "F-18"),
        ("AB12", "id changed", "AB21"),
        ("10 km", "unit changed", "10 miles"),
        ("New York", "text shorter", "New"),
        ("Oslo", "text longer", "Oslo Norway"),
        ("Oslo", "text spelled otherwise", "oslo"),
        ("Oslo", "text replaced", "Norway"),
        ("Nor", "text replaced", "Oslo"),
        ("", "text replaced", "Oslo"),
    ],
)
def test_texts_go_wrong_by_what_they_are(right: str, mistake: str, wrong: str) -> None:
    words = () if right.startswith("9999") else ("Oslo", "in", "Norway")
    assert (mistake, wrong) in list(wrong_texts(right, words))


@pytest.mark.parametrize("text", ["", " ", "²", "٣٤", "0000-00-00", "2026-02-30", "\x00", "a" * 100_000, "0001-01-01"])
def test_any_text_can_go_wrong(text: str) -> None:
    made = list(wrong_texts(text, ("word",)))
    assert made
    assert all(other != text for _, other in made)


def test_no_wrong_value_is_the_right_one() -> None:
    for right in ("Oslo", 1, 0, 2.5, True, None, ["a", "b"], {"k": ["x"]}, [], {}, float("nan"), 10**400):
        for each in wrong_values(right, {"enum": ["Oslo", "Rome"]} if right == "Oslo" else {}, ()):
            assert type(each.value) is not type(right) or each.value != right
            assert each.mistake in MISTAKES


def test_arguments_are_dropped_added_invented_renamed_and_swapped_at_every_depth() -> None:
    schema = tool_schema(
        Tool(
            "t",
            parameters={
                "type": "object",
                "properties": {
                    "from_city": {"type": "string"},
                    "to_city": {"type": "string"},
                    "seat": {"type": "object", "properties": {"row": {"type": "integer"}}},
                    "class": {"enum": ["eco", "biz"], "default": "eco"},
                },
            },
        )
    )
    right: dict[str, Json] = {"from_city": "Oslo", "to_city": "Rome", "seat": {"row": 3}}
    made = [(each.mistake, each.place, each.arguments) for each in wrong_arguments(right, schema, ())]
    assert ("argument dropped", "seat.row", {**right, "seat": {}}) in made
    assert ("argument added", "class", {**right, "class": "biz"}) in made
    assert ("argument invented", "details", {**right, "details": "something"}) in made
    assert ("arguments swapped", "from_city", {**right, "from_city": "Rome", "to_city": "Oslo"}) in made
    assert ("argument renamed", "from_city", {"fromCity": "Oslo", "to_city": "Rome", "seat": {"row": 3}}) in made
    assert ("number changed", "seat.row", {**right, "seat": {"row": 4}}) in made
    assert ("nesting changed", "seat", {"from_city": "Oslo", "to_city": "Rome", "row": 3}) in made
    assert all(arguments != right or repr(arguments) != repr(right) for _, _, arguments in made)


def test_copies_leave_the_original_alone() -> None:
    right: dict[str, Json] = {"a": [{"b": 1}, 2]}
    assert with_value(right, ("a", 0, "b"), 5) == {"a": [{"b": 5}, 2]}
    assert without_value(right, ("a", 0, "b")) == {"a": [{}, 2]}
    assert right == {"a": [{"b": 1}, 2]}


TOOLS = [Tool("get_weather"), Tool("get_waether_now"), Tool("set_alarm")]
ONE, TWO = Call("get_weather", {"city": "Oslo"}), Call("get_weather", {"city": "Rome"})


def made(tool: str) -> Call:
    return Call(tool, {})


def test_calls_are_dropped_doubled_added_swapped_and_taken_for_others() -> None:
    script = (ScriptedTurn(((ONE, TWO),), "Done."),)
    counted = [(each.mistake, each.script[0].steps) for each in wrong_counts(script, Neighbours(TOOLS), made)]
    assert ("call dropped", ((TWO,),)) in counted
    assert ("call doubled", ((ONE, ONE, TWO),)) in counted
    assert ("call added", ((ONE, TWO, Call("set_alarm", {})),)) in counted
    assert [each.script[0].steps for each in wrong_orders(script)] == [((TWO, ONE),)]
    taken = [(each.mistake, each.script[0].calls[0].name) for each in wrong_tools(script, Neighbours(TOOLS), made)]
    assert taken[0] == ("neighbour tool", "get_waether_now")
    assert ("tool invented", "get_weather_now") in taken


def test_a_conversation_is_cut_reordered_and_answered_too_early() -> None:
    script = (ScriptedTurn(((ONE,), (TWO,)), "Done."),)
    assert [each.script[0].steps for each in wrong_orders(script)] == [((TWO,), (ONE,)), ((ONE, TWO),)]
    replies = {each.mistake: each.script[0].steps for each in wrong_replies(script, TOOLS, made)}
    assert replies == {"answer instead of call": (), "conversation cut": ((ONE,),)}


def test_a_text_becomes_a_call_of_each_tool() -> None:
    replies = list(wrong_replies((ScriptedTurn(text="Hello"),), TOOLS, made))
    assert [each.tool for each in replies] == [tool.name for tool in TOOLS]


def test_calls_that_are_forbidden_are_made_beside_the_right_ones() -> None:
    found = measure("""
        expect:
          extra: allow
          calls: [get_weather: {city: Oslo}]
          never: [{pay: {amount: {$gt: 100}}}]
    """)
    assert found.weights["forbidden call"] > 0
    assert "forbidden call" not in {each.mutant.mistake for each in found.survivors}


def test_every_weight_is_that_of_a_known_kind() -> None:
    assert set(SEEN) <= set(MISTAKES)
    assert all(weight(mistake) > 0 for mistake in MISTAKES)
