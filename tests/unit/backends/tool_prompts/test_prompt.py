from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_fcall.backends.tool_prompts import DEFAULT_STYLE, STYLES, with_tools_in_prompt
from pytest_fcall.core import Message, Request, Tool
from pytest_fcall.decoding.decoders import DECODERS
from pytest_fcall.schema.sources.tool_data import tool_from_data

WEATHER = tool_from_data(
    {
        "name": "weather.get",
        "description": "Tell the weather.",
        "parameters": {"type": "dict", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }
)
USER: Message = {"role": "user", "content": "Weather in Oslo?"}


def asked(*messages: Message, tools: tuple[Tool, ...] = (WEATHER,), style: str = DEFAULT_STYLE) -> list[Any]:
    return with_tools_in_prompt(Request(messages, tools), style)


@pytest.mark.parametrize("style", STYLES)
def test_every_style_is_read_by_the_decoder_of_its_name(style: str) -> None:
    assert style in DECODERS


@pytest.mark.parametrize("style", STYLES)
def test_every_style_tells_all_tools_and_leaves_the_question_alone(style: str) -> None:
    told = asked(USER, style=style)
    assert told[1:] == [USER]
    assert told[0]["role"] == "system"
    for word in ("weather.get", "Tell the weather.", '"city"'):
        assert word in told[0]["content"]
    assert "$" not in told[0]["content"]


def test_tools_are_told_by_their_own_names_and_schemas() -> None:
    line = next(line for line in asked(USER)[0]["content"].splitlines() if "weather.get" in line)
    assert json.loads(line) == {
        "name": "weather.get",
        "description": "Tell the weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }


def test_the_case_s_own_system_prompt_stands_below() -> None:
    told = asked({"role": "system", "content": "You are terse."}, USER)
    assert len(told) == 2
    assert told[0]["content"].startswith("You can call tools.")
    assert told[0]["content"].endswith("\n\nYou are terse.")


def test_a_system_prompt_in_parts_keeps_them() -> None:
    part = {"type": "text", "text": "You are terse."}
    content = asked({"role": "developer", "content": [part]}, USER)[0]["content"]
    assert content[1:] == [part]
    assert content[0]["text"].startswith("You can call tools.")


def test_without_tools_nothing_is_told() -> None:
    assert asked(USER, tools=()) == [USER]


def test_an_unknown_style_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(ValueError, match="no prompt for the decoder 'gorila'; available: hermes, json, "):
        with_tools_in_prompt(Request((USER,), (WEATHER,)), "gorila")


CALLED: Message = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "weather.get", "arguments": '{"city": "Oslo"}'}},
        {"id": "c2", "type": "function", "function": {"name": "weather.get", "arguments": {"city": "Rome"}}},
    ],
}
RESULTS: tuple[Message, ...] = (
    {"role": "tool", "tool_call_id": "c1", "content": "rain"},
    {"role": "tool", "tool_call_id": "c2", "content": "sun"},
)


@pytest.mark.parametrize("style", sorted(STYLES.keys() - {"bfcl_java", "bfcl_javascript"}))
def test_earlier_calls_are_written_as_the_model_is_to_write_them(style: str) -> None:
    told = asked(USER, CALLED, *RESULTS, style=style)
    assert set(told[2]) == {"role", "content"}
    calls = DECODERS[style](told[2]["content"], (WEATHER,))
    assert calls.malformed is None
    assert [(call.name, call.arguments) for call in calls.calls] == [
        ("weather.get", {"city": "Oslo"}),
        ("weather.get", {"city": "Rome"}),
    ]


def test_results_that_follow_each_other_are_told_at_once_with_the_names_of_their_tools() -> None:
    told = asked(USER, CALLED, *RESULTS, {"role": "user", "content": "Thanks!"})
    assert told[3] == {
        "role": "user",
        "content": "<tool_response>\n"
        '{"name": "weather.get", "content": "rain"}\n'
        '{"name": "weather.get", "content": "sun"}\n'
        "</tool_response>",
    }
    assert told[4] == {"role": "user", "content": "Thanks!"}


def test_no_message_speaks_of_native_calls_any_more() -> None:
    for message in asked(USER, CALLED, *RESULTS):
        assert message["role"] in ("system", "user", "assistant")
        assert "tool_calls" not in message
        assert "tool_call_id" not in message


def test_what_was_said_beside_a_call_is_kept() -> None:
    told = asked(USER, {**CALLED, "content": "Let me see."})
    assert told[2]["content"].startswith("Let me see.\n<tool_call>")


def test_parts_beside_a_call_are_kept() -> None:
    part = {"type": "text", "text": "Let me see."}
    content = asked(USER, {**CALLED, "content": [part]})[2]["content"]
    assert content[0] == part
    assert content[1]["text"].startswith("<tool_call>")


def test_a_call_of_old_is_written_too() -> None:
    told = asked(
        USER,
        {
            "role": "assistant",
            "content": None,
            "function_call": {"name": "weather.get", "arguments": '{"city": "Oslo"}'},
        },
        {"role": "function", "name": "weather.get", "content": "rain"},
    )
    assert '"arguments": {"city": "Oslo"}' in told[2]["content"]
    assert '"name": "weather.get", "content": "rain"' in told[3]["content"]


def test_a_message_that_says_nothing_of_calls_is_left_as_it_is() -> None:
    said: Message = {"role": "assistant", "content": "Hello.", "tool_calls": None}
    assert asked(USER, said)[2] == said


@pytest.mark.parametrize("language", ["java", "javascript"])
def test_source_code_is_asked_for_as_text(language: str) -> None:
    area = tool_from_data(
        {
            "name": "Geo.area",
            "description": "Tell the area.",
            "parameters": {
                "type": "dict",
                "properties": {
                    "sides": {"type": "ArrayList", "items": {"type": "Double"}, "description": "All sides."},
                    "how": {"type": "any"},
                    "at": {"type": "dict", "properties": {"x": {"type": "float"}}},
                },
            },
        }
    )
    system = asked(USER, tools=(area,), style=f"bfcl_{language}")[0]["content"]
    properties = json.loads(system[system.index("[\n") :])[0]["parameters"]["properties"]
    assert {part["type"] for part in properties.values()} == {"string"}
    assert all("items" not in part and "properties" not in part for part in properties.values())
    said = {name: part["description"] for name, part in properties.items()}
    assert said["sides"].startswith("All sides. Give a ")
    assert said["sides"].endswith(" Its elements are of type Double.")
    assert said["how"].startswith("Give a value of any type of Java")
    assert said["at"].endswith('Its entries are {"x": {"type": "float"}}.')


def test_the_leaderboard_s_styles_tell_types_as_they_were_written() -> None:
    system = asked(USER, style="bfcl")[0]["content"]
    assert json.loads(system[system.index("[\n") :]) == [
        {
            "name": "weather.get",
            "description": "Tell the weather. It is called in Python 3 syntax.",
            "parameters": {"type": "dict", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        }
    ]


@pytest.mark.parametrize("style", ["bfcl", "bfcl_json", "bfcl_verbose_xml", "bfcl_concise_xml"])
def test_tags_are_asked_for_where_the_decoder_wants_them(style: str) -> None:
    assert "<TOOLCALL>" not in asked(USER, style=style)[0]["content"]
    assert "<TOOLCALL>" in asked(USER, style=f"{style}_tagged")[0]["content"]
