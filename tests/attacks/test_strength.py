"""Case files that would make `fcall strength` take for ever, fill the memory, or end in an exception."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_fcall.cases.case_file import read_case_text
from pytest_fcall.core import Case
from pytest_fcall.matching.context import MatchContexts
from pytest_fcall.strength.case_strength import CaseStrength, strength_of


def one_tool(schema: Any, name: str = "t") -> dict[str, Any]:
    return {"name": name, "parameters": {"type": "object", "properties": {"a": schema}}}


def nested(depth: int, inside: Any, around: str = "k") -> Any:
    for _ in range(depth):
        inside = {around: inside}
    return inside


RECURSIVE = {
    "name": "t",
    "parameters": {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/node"}},
        "required": ["a"],
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["next"]}},
    },
}
WIDE: Any = {"type": "null"}
for _ in range(6):
    WIDE = {"anyOf": [WIDE] * 3}

ATTACKS: dict[str, tuple[list[dict[str, Any]], Any]] = {
    "expression with repeats in repeats": (
        [one_tool({"type": "string"})],
        [{"t": {"a": {"$regex": "((a{40}){40}){10}"}}}],
    ),
    "expression that goes back for ever": ([one_tool({"type": "string"})], [{"t": {"a": {"$regex": "(a+)+(b|c)+$"}}}]),
    "expression that nothing matches": ([one_tool({"type": "string"})], [{"t": {"a": {"$regex": "(?!x)x"}}}]),
    "pattern of a schema with huge repeats": (
        [one_tool({"type": "string", "pattern": "((a{999}){999}){9}"})],
        [{"t": {"$ignore": True}}],
    ),
    "schema that needs itself": ([RECURSIVE], [{"t": {"$ignore": True}}]),
    "unions in unions": ([one_tool(WIDE)], [{"t": {"a": {"$ignore": True}}}]),
    "huge numbers in a schema": (
        [one_tool({"type": "string", "minLength": 10**9})],
        [{"t": {"a": {"$ignore": True}}}],
    ),
    "a long list wanted": (
        [one_tool({"type": "array", "minItems": 10**9, "items": {"type": "string"}})],
        [{"t": {"a": {"$ignore": True}}}],
    ),
    "two thousand tools": (
        [one_tool({"type": "string"}, f"tool_number_{number}") for number in range(2000)],
        [{"tool_number_7": {"a": "x"}}, {"tool_number_8": {"a": "y"}}],
    ),
    "five hundred calls": (
        [one_tool({"type": "string"})],
        [{"t": {"a": f"x{number}"}} for number in range(500)],
    ),
    "five hundred alternatives": (
        [one_tool({"type": "string"})],
        {"any_of": [{"calls": [{"t": {"a": {"$contains": f"x{number}"}}}]} for number in range(500)]},
    ),
    "arguments nested deep": ([one_tool({"type": "object"})], [{"t": {"a": nested(60, "x")}}]),
    "operators nested deep": (
        [one_tool({})],
        [{"t": {"a": nested(60, {"$contains": "x"}, "$optional")}}],
    ),
    "a long list": ([one_tool({"type": "array"})], [{"t": {"a": [f"x{number}" for number in range(6_000)]}}]),
    "a long text": ([one_tool({"type": "string"})], [{"t": {"a": "x1-" * 100_000}}]),
    "many arguments": (
        [
            {
                "name": "t",
                "parameters": {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(100)}},
            }
        ],
        [{"t": {f"p{number}": {"$contains": "x"} for number in range(100)}}],
    ),
    "numbers at the ends": (
        [one_tool({"type": "array"})],
        [{"t": {"a": [1e308, -1e308, 5e-324, 0, -0.0, 2**53, 10**30]}}],
    ),
    "digits of all scripts": ([one_tool({"type": "string"})], [{"t": {"a": "١٢٣ ²³ 2026-13-45 0000-00-00 ①"}}]),
    "dates at the ends": (
        [{"name": "t", "parameters": {"type": "object", "properties": {k: {"type": "string"} for k in "abc"}}}],
        [{"t": {"a": "9999-12-31", "b": "0001-01-01", "c": {"$date": "+999999w"}}}],
    ),
    "names that are no names": (
        [
            {
                "name": "t",
                "parameters": {"type": "object", "properties": {"": {}, "$a": {}, "a.b[0]": {}, "ß" * 300: {}}},
            }
        ],
        [{"t": {"": "x", "a.b[0]": ["y"], "ß" * 300: {"": ""}}}],
    ),
    "nothing": ([{"name": "t", "parameters": {"type": "object", "properties": {}}}], [{"t": None}]),
}


def measured(tools: list[dict[str, Any]], expect: Any) -> list[CaseStrength]:
    text = yaml.safe_dump(
        {
            "tools": tools,
            "defaults": {"now": "2026-11-21T10:00:00+00:00"},
            "cases": [{"id": "c", "prompt": "Do it 7 times.", "expect": expect}],
        },
        allow_unicode=True,
    )
    file = read_case_text(text, Path("a.fc.yaml"), root=Path())
    return [strength_of(each, {}, MatchContexts()) for each in file.entries if isinstance(each, Case)]


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hostile_case_is_measured_or_says_why_not(attack: str) -> None:
    for found in measured(*ATTACKS[attack]):
        assert found.contradiction == ""
        assert found.unmeasured_reason or found.tally.whole == pytest.approx(1)
        assert found.counts.whole <= 600
