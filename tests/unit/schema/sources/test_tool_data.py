"""Tools as data are told apart by what is in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Json, Tool
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.tool_data import tool_from_data, tools_from_data
from pytest_fcall.schema.tool_schema import tool_schema

PARAMETERS: dict[str, Json] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
UPPER: dict[str, Json] = {
    "type": "OBJECT",
    "properties": {"city": {"type": "STRING"}, "days": {"type": "INTEGER"}},
    "required": ["city"],
}
BFCL: dict[str, Json] = {
    "type": "dict",
    "properties": {"city": {"type": "String"}, "days": {"type": "long"}},
    "required": ["city"],
}
WEATHER = Tool("get_weather", "Look outside.", PARAMETERS)
NAMED: dict[str, Json] = {"name": "get_weather", "description": "Look outside."}

SHAPES: dict[str, Json] = {
    "plain": {**NAMED, "parameters": PARAMETERS},
    "chat": {"type": "function", "function": {**NAMED, "parameters": PARAMETERS, "strict": True}},
    "chat without type": {"function": {**NAMED, "parameters": PARAMETERS}},
    "responses": {"type": "function", **NAMED, "parameters": PARAMETERS, "strict": False},
    "anthropic": {**NAMED, "input_schema": PARAMETERS, "cache_control": {"type": "ephemeral"}},
    "anthropic with type": {"type": "custom", **NAMED, "input_schema": PARAMETERS},
    "mcp": {
        **NAMED,
        "title": "Weather",
        "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#", **PARAMETERS},
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
    },
    "gemini": {**NAMED, "parameters": UPPER, "response": {"type": "STRING"}},
    "gemini with JSON Schema": {**NAMED, "parametersJsonSchema": PARAMETERS},
    "gemini of the Python SDK": {**NAMED, "parameters_json_schema": PARAMETERS},
    "bedrock": {"toolSpec": {**NAMED, "inputSchema": {"json": PARAMETERS}}},
    "bfcl": {**NAMED, "parameters": BFCL},
}


@pytest.mark.parametrize("data", SHAPES.values(), ids=SHAPES.keys())
def test_every_shape_gives_the_same_tool(data: Json) -> None:
    assert tool_from_data(data) == WEATHER


@pytest.mark.parametrize("data", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize(
    "wrap",
    [
        lambda tool: tool,
        lambda tool: [tool],
        lambda tool: {"tools": [tool]},
        lambda tool: {"model": "m", "tools": [tool], "messages": []},
        lambda tool: {"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool], "nextCursor": None}},
        lambda tool: {"functionDeclarations": [tool]},
        lambda tool: {"tools": [{"function_declarations": [tool]}]},
        lambda tool: [{"functionDeclarations": [tool]}],
        lambda tool: {"modelId": "m", "toolConfig": {"tools": [tool, {"cachePoint": {"type": "default"}}]}},
        lambda tool: {"functions": [tool]},
        lambda tool: {"id": "simple_0", "question": [], "function": [tool]},
    ],
    ids=[
        "alone",
        "list",
        "tools",
        "request",
        "json-rpc",
        "gemini",
        "gemini-tools",
        "gemini-list",
        "bedrock",
        "functions",
        "bfcl",
    ],
)
def test_every_file_of_tools_is_read(data: Json, wrap: object) -> None:
    assert callable(wrap)
    assert tools_from_data(wrap(data)) == [WEATHER]


def test_the_tools_of_a_file_keep_their_order_and_may_differ_in_shape() -> None:
    tools = tools_from_data(
        [
            {"name": "a", "input_schema": {}},
            {"functionDeclarations": [{"name": "b"}, {"name": "c", "parameters": UPPER}]},
            {"type": "function", "function": {"name": "d"}},
        ]
    )
    assert [tool.name for tool in tools] == ["a", "b", "c", "d"]


def test_a_tool_knows_where_it_was_read_and_stays_the_same_tool() -> None:
    tool = tool_from_data(SHAPES["plain"], source="tools/weather.json")
    assert tool.source == "tools/weather.json"
    assert tool.name == WEATHER.name


@pytest.mark.parametrize(
    "data",
    [
        {"name": "ping"},
        {"name": "ping", "parameters": None},
        {"name": "ping", "parameters": {}},
        {"name": "ping", "parameters": {"type": "object", "properties": None, "required": None}},
        {"name": "ping", "input_schema": {"type": "object"}, "description": None},
    ],
)
def test_a_tool_may_take_no_arguments(data: Json) -> None:
    tool = tool_from_data(data)
    assert tool == Tool("ping", "", {"type": "object", "properties": {}})
    assert [finding.kind for finding in tool_schema(tool).check({"x": 1})] == ["unexpected_argument"]


@pytest.mark.parametrize(
    ("data", "path", "message", "hint"),
    [
        ("get_weather", (), "not the string 'get_weather'", ""),
        (None, (), "not null", ""),
        ([1], (0,), "not the integer 1", ""),
        ({}, (), "no name", "add `name"),
        ({"nane": "x", "parameters": {}}, (), "no name", "is `nane` meant"),
        ({"name": ""}, ("name",), "printable", ""),
        ({"name": " x"}, ("name",), "printable", ""),
        ({"name": "a\nb"}, ("name",), "printable", ""),
        ({"name": 3}, ("name",), "the integer 3", ""),
        ({"name": "x", "description": ["d"]}, ("description",), "not a list", ""),
        ({"name": "x", "parameters": "city"}, ("parameters",), "not the string 'city'", ""),
        ({"name": "x", "parameters": {"type": "string"}}, ("parameters", "type"), "of type object", "properties"),
        ({"name": "x", "parameters": {"city": {"type": "string"}}}, ("parameters",), "look like", "type: object"),
        ({"name": "x", "paramters": {}}, ("paramters",), "unknown key", "`parameters`"),
        ({"name": "x", "inputschema": {}}, ("inputschema",), "unknown key", "`input"),
        ({"name": "x", "args": {"city": {}}}, ("args",), "unknown key", "`parameters`"),
        ({"name": "x", "parameters": {}, "input_schema": {}}, ("input_schema",), "both", "keep one"),
        ({"type": "web_search_20250305", "name": "web_search"}, ("type",), "tool of the provider", "leave"),
        ({"type": "web_search"}, ("type",), "tool of the provider", "leave"),
        ({"title": "X", "type": "object", "properties": {}}, (), "JSON Schema, not a tool", "parameters"),
        ({"tools": {"a": 1}}, (), "no name", ""),
        ({"tools": "a"}, ("tools",), "must be a list", ""),
        ({"tools": [{"name": "a"}, {"name": 1}]}, ("tools", 1, "name"), "the integer 1", ""),
        ({"result": {"tools": [3]}}, ("result", "tools", 0), "the integer 3", ""),
        ([{"functionDeclarations": [{"name": 1}]}], (0, "functionDeclarations", 0, "name"), "integer 1", ""),
        ({"type": "function", "function": {"name": 1}}, ("function", "name"), "integer 1", ""),
        ({"function": {"name": "f", "parameters": []}}, ("function", "parameters"), "not a list", ""),
        (
            {"toolSpec": {"name": "f", "inputSchema": {"type": "object"}}},
            ("toolSpec", "inputSchema"),
            "`json`",
            "{json",
        ),
        ({"toolSpec": {"name": "f", "inputSchema": {"json": 1}}}, ("toolSpec", "inputSchema", "json"), "integer 1", ""),
        ({"toolConfig": {"tools": [{"toolSpec": {}}]}}, ("toolConfig", "tools", 0, "toolSpec"), "no name", ""),
        ([{"systemTool": {"name": "nova_grounding"}}], (0, "systemTool"), "tool of the provider", "leave"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(data: Json, path: tuple[str | int, ...], message: str, hint: str) -> None:
    with pytest.raises(SchemaError) as caught:
        tools_from_data(data)
    assert caught.value.path == path
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_where_one_tool_is_wanted_several_are_an_error() -> None:
    with pytest.raises(SchemaError, match="not 2"):
        tool_from_data([{"name": "a"}, {"name": "b"}])


def test_keys_that_providers_add_are_let_be() -> None:
    assert tool_from_data({"name": "x", "x-vendor": 1, "defer_loading": True, "enabled": False}).name == "x"


def test_functions_inside_functions_are_no_way_to_break_the_reader() -> None:
    data: Json = {"name": "x"}
    for _ in range(5000):
        data = {"function": data}
    with pytest.raises(SchemaError):
        tools_from_data(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "name",
                    "type",
                    "function",
                    "parameters",
                    "input_schema",
                    "tools",
                    "properties",
                    "description",
                    "items",
                ]
            )
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_any_data_gives_tools_or_a_located_error(data: Json) -> None:
    try:
        tools = tools_from_data(data)
    except SchemaError as error:
        here = data
        for step in error.path[:-1]:
            here = here[step]  # type: ignore[index]  # the path must lead through the data
    else:
        assert all(tool.name and tool.parameters["type"] == "object" for tool in tools)
