from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_fcall.core import Json, Message, Tool
from pytest_fcall.schema.sources.tool_data import tool_from_data
from pytest_fcall.schema.wire_tools import CHAT, RESPONSES, WireFormat, WireTools, tools_for_wire

STRICT = WireFormat("chat", strict=True)
WEATHER = tool_from_data(
    {
        "name": "get_weather",
        "description": "Tell the weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }
)
OPTIONAL = tool_from_data({"name": "find", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}})


def tool(name: str, parameters: Json) -> Tool:
    return tool_from_data({"name": name, "parameters": parameters})


def function(out: WireTools, index: int = 0) -> Any:
    return out.tools[index]["function"]


def test_chat_completions_gets_a_function_in_a_wrapper() -> None:
    assert tools_for_wire([WEATHER], CHAT).tools == [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "description": "Tell the weather.",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
            },
        }
    ]


def test_responses_gets_a_flat_function_that_says_whether_it_is_strict() -> None:
    told = tools_for_wire([WEATHER], RESPONSES).tools[0]
    assert (told["name"], told["strict"]) == ("get_weather", False)


def test_a_description_that_nobody_gave_is_not_sent() -> None:
    assert "description" not in function(tools_for_wire([OPTIONAL]))


def test_what_goes_out_unchanged_is_not_spoken_of() -> None:
    assert tools_for_wire([WEATHER]).changes == ()


def test_a_tool_keeps_its_order_and_finds_its_name_again() -> None:
    out = tools_for_wire([tool("math.add", None), WEATHER])
    assert [each["function"]["name"] for each in map(dict[str, Any], out.tools)] == ["math_add", "get_weather"]
    assert out.changes == ("`math.add` is sent as `math_add`",)
    assert [out.tool_name(name) for name in ("math_add", "get_weather", "made_up", 7, None)] == [
        "math.add",
        "get_weather",
        "made_up",
        7,
        None,
    ]


def test_two_tools_that_would_have_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match=r"`a\.b` and `a_b` would both be sent as `a_b`: rename one of them"):
        tools_for_wire([tool("a.b", None), tool("a_b", None)])


def test_the_same_tools_are_written_once() -> None:
    assert tools_for_wire([WEATHER, OPTIONAL]) is tools_for_wire((WEATHER, OPTIONAL))
    assert tools_for_wire([WEATHER]) is not tools_for_wire([WEATHER], STRICT)


def test_no_tools_are_no_tools() -> None:
    assert tools_for_wire([]) == WireTools([], {})


def test_types_of_the_leaderboard_are_named_where_they_were_changed() -> None:
    area = tool("area", {"type": "dict", "properties": {"side": {"type": "float"}, "unit": {"type": "string"}}})
    out = tools_for_wire([area])
    assert function(out)["parameters"]["properties"] == {"side": {"type": "number"}, "unit": {"type": "string"}}
    assert out.changes == ("`area`: the types `dict`, `float` are sent as those of JSON Schema",)


@pytest.mark.parametrize(
    ("sent", "there"),
    [
        ({"role": "user", "content": "Hi"}, {"role": "user", "content": "Hi"}),
        (
            {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "math.add", "arguments": "{}"}}]},
            {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "math_add", "arguments": "{}"}}]},
        ),
        (
            {"role": "assistant", "function_call": {"name": "math.add", "arguments": "{}"}},
            {"role": "assistant", "function_call": {"name": "math_add", "arguments": "{}"}},
        ),
        ({"role": "tool", "name": "math.add", "content": "3"}, {"role": "tool", "name": "math_add", "content": "3"}),
        ({"role": "user", "name": "A. B.", "content": "Hi"}, {"role": "user", "name": "A. B.", "content": "Hi"}),
        ({"role": "assistant", "tool_calls": None}, {"role": "assistant", "tool_calls": None}),
        (
            {"role": "assistant", "tool_calls": [1, {"function": 2}]},
            {"role": "assistant", "tool_calls": [1, {"function": 2}]},
        ),
    ],
)
def test_earlier_messages_call_tools_by_their_names_on_the_wire(sent: Message, there: Message) -> None:
    assert tools_for_wire([tool("math.add", None)]).wire_message(sent) == there


def test_strict_mode_says_so_with_each_tool() -> None:
    assert function(tools_for_wire([WEATHER], STRICT)) == {
        "name": "get_weather",
        "description": "Tell the weather.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
        "strict": True,
    }


def test_strict_mode_tells_of_nulls_only_where_there_are_some() -> None:
    assert tools_for_wire([WEATHER], STRICT).effects == ()
    assert tools_for_wire([WEATHER, OPTIONAL], STRICT).effects == ("nulls",)


def test_a_tool_that_strict_mode_cannot_say_goes_out_as_it_is() -> None:
    free = tool("put", {"type": "object", "properties": {"labels": {"type": "object"}}, "required": ["labels"]})
    chat, flat = tools_for_wire([free], STRICT), tools_for_wire([free], WireFormat("responses", strict=True))
    assert function(chat) == function(tools_for_wire([free]))
    assert flat.tools[0]["strict"] is False
    assert chat.changes == ("`put`: not sent as strict: `labels` allows any keys",)
    assert chat.effects == ()


def test_what_goes_out_is_json() -> None:
    assert (
        json.loads(json.dumps(tools_for_wire([WEATHER, OPTIONAL], STRICT).tools))
        == tools_for_wire([WEATHER, OPTIONAL], STRICT).tools
    )
