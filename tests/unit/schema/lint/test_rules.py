"""Each rule finds what it says, and nothing in tools that say it well."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fcall.core import Json, Tool
from pytest_fcall.schema.lint.rules import RULES, argument_findings, tool_findings
from pytest_fcall.schema.lint.words import bounds, listed_values, named_default, named_format


def tool_of(*, required: bool = False, name: str = "city", description: str = "", **schema: Any) -> Tool:
    own: dict[str, Json] = {**schema, **({"description": description} if description else {})}
    parameters: dict[str, Json] = {"type": "object", "properties": {name: own}, "required": [name] if required else []}
    return Tool("get_weather", "Tell how warm a place is.", parameters)


def rules_of(*tools: Tool) -> list[str]:
    return [found.rule for found in tool_findings(tools)]


@pytest.mark.parametrize(
    ("tool", "rule"),
    [
        (Tool("get_weather"), "no-description"),
        (Tool("getWeather", "Gets the weather."), "no-description"),
        (tool_of(name="q", type="string"), "unexplained"),
        (tool_of(name="value", type="string"), "unexplained"),
        (tool_of(description="Where.", required=True), "no-type"),
        (tool_of(description="The city (optional).", type="string", required=True), "contradiction"),
        (tool_of(description="One of 'warm', 'cold' or 'dry'.", type="string"), "choices-in-words"),
        (tool_of(description="Can be warm, cold or dry.", type=["string", "null"]), "choices-in-words"),
        (tool_of(description="Days, between 1 and 7.", type="integer"), "bounds-in-words"),
        (tool_of(description="The day as YYYY-MM-DD.", type="string"), "format-in-words"),
        (tool_of(description="The unit. Defaults to celsius.", type="string"), "default-in-words"),
        (tool_of(description="How.", type="object"), "open-object"),
        (
            tool_of(
                description="How.", type="object", properties={"country": {"type": "null"}}, additionalProperties=True
            ),
            "open-object",
        ),
    ],
)
def test_a_rule_finds_what_it_says_and_no_other_rule_does(tool: Tool, rule: str) -> None:
    assert rules_of(tool) == [rule]


@pytest.mark.parametrize(
    "tool",
    [
        tool_of(name="city", type="string"),
        tool_of(description="One of 'warm' or 'cold'.", enum=["warm", "cold"]),
        tool_of(description="A place, such as 'Oslo' or 'Bern'.", type="string"),
        tool_of(description="Days, between 1 and 7.", type="integer", minimum=1, maximum=7),
        tool_of(description="The day as YYYY-MM-DD.", type="string", format="date"),
        tool_of(description="Defaults to celsius.", type="string", default="celsius"),
        tool_of(description="The city (optional).", type="string"),
        tool_of(description="Labels.", type="object", additionalProperties={"type": "string"}),
        tool_of(description="Where.", anyOf=[{"type": "string"}, {"type": "null"}]),
    ],
)
def test_a_tool_that_says_it_in_its_schema_has_no_finding(tool: Tool) -> None:
    assert rules_of(tool) == []


def test_neighbours_are_alike_that_share_half_of_their_words_and_the_hint_says_how_they_differ() -> None:
    search = Tool("search_orders", "Search the orders of a customer by date.")
    listing = Tool("list_orders", "List the orders of a customer.")
    refund = Tool("refund", "Give money back.")
    (found,) = tool_findings([search, listing, refund])
    assert (found.rule, found.tool, found.other) == ("alike", "search_orders", "list_orders")
    assert found.message == "shares 2 of 3 words with `list_orders`: customer, order"
    assert found.hint.startswith("only `search_orders` says date, search; only `list_orders` says list: say in both")


def test_names_that_are_the_same_on_the_wire_are_an_error() -> None:
    tools = [Tool("a.b", "Give a cake."), Tool("a/b", "Take some money.")]
    (found,) = tool_findings(tools)
    assert (found.rule, found.tool, found.message) == ("same-name", "a/b", "is sent as `a_b`, like `a.b`")
    assert RULES[found.rule].severity == "error"


def test_more_tools_than_a_model_chooses_from_are_found_once() -> None:
    tools = [Tool(f"tool{number}", f"Does {chr(97 + number) * 5}.") for number in range(21)]
    assert rules_of(*tools) == ["many-tools"]
    assert rules_of(*tools[:20]) == []


def test_an_argument_is_unused_where_there_are_cases_and_none_names_it() -> None:
    tool = tool_of(name="verbose", type="boolean")
    assert [found.rule for found in argument_findings(tool, set())] == ["unused"]
    assert not list(argument_findings(tool, {("verbose",)}))
    assert not list(argument_findings(tool, None))


def test_arguments_inside_of_lists_and_objects_are_named_by_their_path() -> None:
    day = {"type": "object", "properties": {"day": {"type": "string", "description": "As YYYY-MM-DD."}}}
    (found,) = tool_findings([tool_of(description="When.", type="array", items=day)])
    assert found.argument == "city[].day"


def test_a_schema_that_refers_to_itself_comes_to_an_end() -> None:
    inner: dict[str, Json] = {"type": "object", "properties": {"x": {"$ref": "#/$defs/t"}, "y": {"$ref": "#/$defs/t"}}}
    parameters: dict[str, Json] = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/t"}},
        "$defs": {"t": inner},
    }
    assert {found.rule for found in tool_findings([Tool("grow", "Plant a tree.", parameters)])} == {"unexplained"}


@pytest.mark.parametrize("text", ["one of " + "a, " * 50_000, "between 1" * 50_000, "'" * 100_000, "(" * 100_000])
def test_descriptions_without_end_are_read_in_no_time(text: str) -> None:
    assert rules_of(tool_of(description=text, type=["string", "integer"])) in ([], ["choices-in-words"])


def test_words_are_taken_for_values_bounds_formats_and_defaults_only_where_they_are() -> None:
    assert listed_values("The unit. Must be one of: celsius, fahrenheit.") == ["celsius", "fahrenheit"]
    assert listed_values("The place you want to see, warm or cold") == []
    assert bounds("Pages (1-50) to read") == "(1-50)"
    assert bounds("The year 2024 of the report") == ""
    assert named_format("A link, as URL") == ("URL", "uri")
    assert named_default("Default is 'metric'.") == "metric"
