"""Single-turn rows as cases: tools, the ground truth as an Expectation, and the case for the official checker."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Final

from pytest_fcall.core.case import Case, Location, Turn
from pytest_fcall.core.expectation import Expectation, ExpectedCall, Language, Rules, Strings
from pytest_fcall.core.operators import Operator, Pattern
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.matching.bfcl.official_case import OfficialCase
from pytest_fcall.schema.dialect import normalise
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.tool_data import tool_from_data
from pytest_fcall.schema.tool_schema import tool_schema
from pytest_fcall.suites.json_files import BrokenRow, objects_field, string_field

STRINGS_BY_LANGUAGE: Mapping[Language, Strings] = {"python": "relaxed", "java": "exact", "javascript": "exact"}
"""The rule by which strings compare. Ground truths leave letter case open, except in Java and JavaScript source."""
_MOST_KEPT: Final = 1_024
"""The functions that are kept as read. Three of five are offered by an earlier case, too."""
OMITTABLE: Final = ""
"""The alternative with which the leaderboard marks an argument that may be left out."""


@dataclass(frozen=True, slots=True)
class TrueCall:
    """One call of a ground truth, with a list of alternatives for each argument."""

    name: str
    arguments: Mapping[str, Json]


def true_calls(truth: Sequence[Mapping[str, Json]]) -> list[TrueCall]:
    """Return the calls of a ground truth. Raises BrokenRow for an item that is not a call."""
    calls = []
    for item in truth:
        for name, arguments in item.items():
            if not isinstance(arguments, Mapping):
                raise BrokenRow(f"the ground truth needs an object of arguments for {name!r}")
            calls.append(TrueCall(name, arguments))
    return calls


def expectation_of(category: str, functions: Sequence[Mapping[str, Json]], calls: Sequence[TrueCall]) -> Expectation:
    """Return the Expectation of a ground truth.

    A list of alternatives becomes `$any`, and OMITTABLE in it becomes `$optional`. An object has alternatives for each
    of its keys. Calls may come in any order.
    """
    if "irrelevance" in category:
        return Expectation(kind="no_call")
    if "relevance" in category:
        return Expectation(kind="any_call")
    offered = {name: _parameters(function) for function in functions if isinstance(name := function.get("name"), str)}
    return Expectation(stages=(tuple(_expected(call, *offered.get(call.name, ((), ()))) for call in calls),))


def _expected(call: TrueCall, known: Sequence[str], required: Sequence[str]) -> ExpectedCall:
    """One expected call.

    An argument that is unknown to the tool may be left out. A required one that the truth lacks may be anything.
    """
    patterns = {
        key: _choice(options, omittable=key not in known, needed=key in required)
        for key, options in call.arguments.items()
    }
    unnamed = {key: Operator("ignore", True) for key in required if key not in patterns}
    return ExpectedCall(call.name, {**patterns, **unnamed})


def _parameters(function: Mapping[str, Json]) -> tuple[Sequence[str], Sequence[str]]:
    """The names of the parameters, and of the required ones."""
    parameters = function.get("parameters")
    if not isinstance(parameters, Mapping):
        return (), ()
    properties, required = parameters.get("properties"), parameters.get("required")
    return (
        list(properties) if isinstance(properties, Mapping) else (),
        [name for name in required if isinstance(name, str)] if isinstance(required, list) else (),
    )


def _choice(options: Json, *, omittable: bool = False, needed: bool = False, flat: bool = False) -> Pattern:
    """The pattern of one argument or key. For a required one, the empty string is an ordinary value."""
    if not isinstance(options, list) or not options:
        return Operator("literal", options)  # a value without a list of alternatives around it
    optional = omittable or (OMITTABLE in options and not needed)
    values = [option for option in options if not (optional and option == OMITTABLE)]
    patterns = values if flat else [_alternative_pattern(value) for value in values]
    chosen = patterns[0] if len(patterns) == 1 else Operator("any", patterns)
    return Operator("optional", chosen) if optional else chosen


def _alternative_pattern(option: Json) -> Pattern:
    """The pattern of one alternative. Objects, also in a list, have alternatives by key; deeper values are plain."""
    if isinstance(option, Mapping):
        return {key: _choice(options, flat=True) for key, options in option.items()}
    if isinstance(option, list) and any(isinstance(item, Mapping) for item in option):
        return [_alternative_pattern(item) if isinstance(item, Mapping) else item for item in option]
    return option


def tools_of(functions: Sequence[Mapping[str, Json]], truth: Sequence[TrueCall]) -> tuple[Tool, ...]:
    """Read the offered functions. A parameter whose schema forbids every right value accepts any value."""
    return tuple(_reconciled(_tool(function), truth) for function in functions)


def _tool(function: Mapping[str, Json]) -> Tool:
    """Read one function. A parameter with an invalid schema accepts any value."""
    try:
        return _sound_tool(json.dumps(function))
    except (SchemaError, RecursionError):
        parameters = function.get("parameters")
        declared = parameters if isinstance(parameters, Mapping) else {}
        return Tool(
            string_field(function, "name"),
            str(function.get("description", "")),
            _salvaged_parameters(declared),
            declared=declared,
        )


@lru_cache(maxsize=_MOST_KEPT)
def _sound_tool(function: str) -> Tool:
    """Read one function from its JSON. Raises SchemaError."""
    return tool_from_data(json.loads(function))


def _salvaged_parameters(parameters: Mapping[str, Json]) -> Mapping[str, Json]:
    properties, required = parameters.get("properties"), parameters.get("required")
    named = properties if isinstance(properties, Mapping) else {}
    return {
        "type": "object",
        "properties": {key: _sound_schema(key, schema) for key, schema in named.items()},
        "required": [key for key in required if key in named] if isinstance(required, list) else [],
    }


def _sound_schema(key: str, schema: Json) -> Json:
    try:
        properties = normalise({"type": "object", "properties": {key: schema}})["properties"]
    except SchemaError:
        return {}
    return properties[key] if isinstance(properties, Mapping) else {}


def _reconciled(tool: Tool, truth: Sequence[TrueCall]) -> Tool:
    properties = tool.parameters.get("properties")
    if not isinstance(properties, Mapping):
        return tool
    right: dict[str, list[list[Json]]] = {}
    for call in truth:
        if call.name == tool.name:
            for key in call.arguments.keys() & properties.keys():
                right.setdefault(key, []).append(_right_values(call.arguments[key]))
    free = {
        key: list(chain(*found)) for key, found in right.items() if any(_forbidden(tool, key, each) for each in found)
    }
    if not free:
        return tool
    freed = {key: _free_schema(schema, free[key]) if key in free else schema for key, schema in properties.items()}
    return replace(tool, parameters={**tool.parameters, "properties": freed})


def _right_values(options: Json) -> list[Json]:
    values = [option for option in options if option != OMITTABLE] if isinstance(options, list) else [options]
    return [_example(value) for value in values]


def _forbidden(tool: Tool, key: str, values: Sequence[Json]) -> bool:
    try:
        schema = tool_schema(tool)
    except SchemaError:
        return False
    return bool(values) and all(schema.check_at((key,), value) for value in values)


def _free_schema(schema: Json, values: Sequence[Json]) -> dict[str, Json]:
    """A schema with no more than the description, the default, and that 1.0 is not an integer."""
    old = schema if isinstance(schema, Mapping) else {}
    notes = {key: old[key] for key in ("description", "default") if key in old}
    return {"type": "integer", **notes} if all(type(value) is int for value in values) else notes


def _example(option: Json) -> Json:
    """A value that an alternative allows. Each key of an object takes its first alternative."""
    if isinstance(option, list):
        return [_example(item) if isinstance(item, Mapping) else item for item in option]
    if not isinstance(option, Mapping):
        return option
    chosen = {key: options[0] if isinstance(options, list) and options else options for key, options in option.items()}
    return {key: value for key, value in chosen.items() if value != OMITTABLE}


@dataclass(frozen=True, slots=True)
class BfclCase:
    """One case for both profiles: a Case for `strict`, and an OfficialCase for the official checker."""

    case: Case
    expect: Expectation
    official_case: OfficialCase


def case_of(row: Mapping[str, Json], location: Location) -> BfclCase:
    """Read one row of cases. Raises BrokenRow."""
    official_case = official_case_of(row)
    calls = true_calls(official_case.truth)
    expect = expectation_of(official_case.category, official_case.functions, calls)
    case = Case(
        id=string_field(row, "id"),
        location=location,
        turns=(Turn(messages_of(row.get("question")), expect),),
        tools=tools_of(official_case.functions, calls),
        rules=Rules(strings=STRINGS_BY_LANGUAGE[official_case.language], language=official_case.language),
        category=official_case.category,
    )
    return BfclCase(case, expect, official_case)


def official_case_of(row: Mapping[str, Json]) -> OfficialCase:
    """Read one row for the official checker. Raises BrokenRow."""
    category = string_field(row, "category")
    return OfficialCase(
        category, objects_field(row, "function"), objects_field(row, "ground_truth"), language_of(category)
    )


def language_of(category: str) -> Language:
    """Return the language of the literals in a category's arguments."""
    if "relevance" in category:
        return "python"
    return "javascript" if "javascript" in category else "java" if "java" in category else "python"


def messages_of(question: Json) -> tuple[Message, ...]:
    """Return the messages of the first turn. The questions of 2024 are plain text."""
    if isinstance(question, str):
        return ({"role": "user", "content": question},)
    turns: Json = [] if question is None else question
    first: Json = (turns[0] if turns else []) if isinstance(turns, list) else None
    if not isinstance(first, list) or not all(isinstance(message, Mapping) for message in first):
        raise BrokenRow("`question` must be a list of turns, each a list of messages")
    return tuple(message for message in first if isinstance(message, Mapping))
