"""Expectations for tests, written as in a case file: `{"$any": [...]}` is an operator, `{"tool": {...}}` a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_fcall.core import (
    Call,
    CallPattern,
    Calls,
    Expectation,
    ExpectedCall,
    Operator,
    Pattern,
    Reply,
    Rules,
    Tool,
    Verdict,
)
from pytest_fcall.core.extension import Comparator
from pytest_fcall.matching.context import MatchContext
from pytest_fcall.matching.reply import judge

TOOLS = (
    Tool(
        "get_weather",
        parameters={
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
                "days": {"type": "integer", "minimum": 1},
                "note": {"type": ["string", "null"]},
            },
            "required": ["city"],
        },
    ),
    Tool(
        "book",
        parameters={
            "type": "object",
            "properties": {
                "flight": {"type": "string"},
                "price": {"type": "number"},
                "seats": {"type": "array", "items": {"type": "string"}},
                "window": {"type": "boolean"},
                "address": {"$ref": "#/$defs/address"},
                "items": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"name": {"type": "string"}, "count": {"type": "integer", "default": 1}},
                        "required": ["name"],
                    },
                },
            },
            "required": ["flight"],
            "$defs": {
                "address": {
                    "type": "object",
                    "properties": {
                        "city": {"type": "string"},
                        "zip": {"type": "string"},
                        "country": {"type": "string", "default": "NO"},
                    },
                    "required": ["city"],
                }
            },
        },
    ),
    Tool("any", parameters={"type": "object", "properties": {"x": {}, "y": {}}}),
    Tool(
        "note", parameters={"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": True}
    ),
    Tool("list_tables"),
    Tool("delete_db"),
)

ANSWER = Reply("Here you are.")
NO_RULES = Rules()
_CALL_WORDS = {"args", "times", "as"}


def pattern(data: Any) -> Pattern:
    if isinstance(data, Mapping):
        names = [key for key in data if isinstance(key, str) and key.startswith("$")]
        if names:
            (name,) = names
            operand = data[name] if name == "$literal" else pattern(data[name])
            options = {key: pattern(value) for key, value in data.items() if key != name}
            return Operator(name[1:], operand, options)
        return {key: pattern(value) for key, value in data.items()}
    if isinstance(data, list):
        return [pattern(item) for item in data]
    return data  # type: ignore[no-any-return]  # test data are plain values


def expected_call(data: Any) -> ExpectedCall:
    data = {data: None} if isinstance(data, str) else data
    ((tool, arguments),) = [(key, value) for key, value in data.items() if key not in _CALL_WORDS]
    fewest, most = data.get("times", [1, 1])
    free = arguments == {"$ignore": True}
    patterns = None if free else {key: pattern(value) for key, value in (arguments or {}).items()}
    return ExpectedCall(tool, patterns, open=data.get("args") == "open", times=(fewest, most))


def call_pattern(data: Any) -> CallPattern:
    if isinstance(data, str):
        return CallPattern(data)
    ((tool, arguments),) = data.items()
    return CallPattern(tool, {key: pattern(value) for key, value in arguments.items()})


def expectation(data: Any) -> Expectation:
    if data in ("no_call", "any_call"):
        return Expectation(data)
    data = {"calls": data} if isinstance(data, list) else data
    patterns = {key: tuple(map(call_pattern, data.get(key, ()))) for key in ("allow", "never")}
    shared = {"order": data.get("order", "any"), "extra": data.get("extra", "forbid"), **patterns}
    if "any_of" in data:
        return Expectation("any_of", alternatives=tuple(map(expectation, data["any_of"])), **shared)
    first = tuple(expected_call(item) for item in data["calls"] if not _is_group(item))
    groups = [tuple(map(expected_call, item["then"])) for item in data["calls"] if _is_group(item)]
    return Expectation(stages=tuple(stage for stage in (first, *groups) if stage), **shared)


def _is_group(item: Any) -> bool:
    return isinstance(item, Mapping) and "then" in item


def made(data: Iterable[Any]) -> tuple[Call, ...]:
    """Calls from `{"tool": {arguments}}`."""
    return tuple(Call(name, arguments) for each in data for name, arguments in each.items())


def judged(
    calls: Iterable[Any],
    expected: Any,
    *,
    reply: Reply = ANSWER,
    malformed: str | None = None,
    tools: Iterable[Tool] = TOOLS,
    rules: Rules = NO_RULES,
    comparators: Mapping[str, Comparator] = {},
) -> Verdict:
    """Judge calls by an expectation, both written as in a case file."""
    return judge(
        reply, Calls(made(calls), malformed), expectation(expected), MatchContext(tuple(tools), rules, comparators)
    )


def findings(verdict: Verdict) -> list[str]:
    """The kinds and paths of a verdict's reasons, as `kind path`."""
    assert verdict.valid is (not verdict.reasons)
    return sorted(f"{reason.kind} {reason.path}" for reason in verdict.reasons)
