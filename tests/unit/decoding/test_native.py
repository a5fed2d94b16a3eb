"""Calls that a server took out of the model's output."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Call, Calls, Json, RawCall, Reply
from pytest_fcall.decoding.decoders import decode


def native(*arguments: Json, text: str = "", name: Json = "f") -> Calls:
    return decode(Reply(text, tuple(RawCall(name, each) for each in arguments)))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"city": "Oslo", "days": 3}', {"city": "Oslo", "days": 3}),
        (' {"a": [1.5, null, true, {"b": []}]}\n', {"a": [1.5, None, True, {"b": []}]}),
        ("{}", {}),
        ('{"a": 12345678901234567890123456789}', {"a": 12345678901234567890123456789}),
        (r'{"a": "\ud800\u0000"}', {"a": "\ud800\0"}),
        ('{"a": "{\\"b\\": 1}"}', {"a": '{"b": 1}'}),
        ({"city": "Oslo"}, {"city": "Oslo"}),
        ({}, {}),
    ],
)
def test_arguments_are_read(arguments: Json, expected: dict[str, Json]) -> None:
    assert native(arguments) == Calls((Call("f", expected),))


@pytest.mark.parametrize("arguments", ["", "  \n", None])
def test_empty_arguments_are_none_and_that_is_noted(arguments: Json) -> None:
    assert native(arguments) == Calls(
        (Call("f", {}),), notes=("Tool call 1: The arguments are empty; read as no arguments.",)
    )


def test_a_key_that_stands_twice_is_noted() -> None:
    calls = native('{"a": 1, "b": {"c": 1, "c": 2}, "a": 3}')
    assert calls.calls == (Call("f", {"a": 3, "b": {"c": 2}}),)
    assert [note.split(";")[0] for note in calls.notes] == [
        "Tool call 1: The key 'c' is repeated",
        "Tool call 1: The key 'a' is repeated",
    ]


def test_numbers_keep_their_kind() -> None:
    arguments = native('{"a": 1, "b": 1.0, "c": 1e2, "d": -0}').calls[0].arguments
    assert [type(value) for value in arguments.values()] == [int, float, float, int]


NESTED: Any = "x"
for _ in range(5_000):
    NESTED = [NESTED]
SHARED: Any = "x"
for _ in range(90):
    SHARED = [SHARED, SHARED]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ('{"city": "Os', "Unterminated string"),
        ('{"a": 1} and more', "Extra data (character 10, at 'and more')"),
        ("{'a': 1}", "double quotes"),
        ("get_weather", "Expecting value"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "-Infinity"),
        ('{"a": 1e999}', "1e999"),
        ('{"a": ' + "9" * 5_000 + "}", "thousands of digits"),
        ('{"a": ' + "[" * 200 + "]" * 200 + "}", "more than 100 levels"),
        ('{"a": ' + "[" * 500_000, "levels"),
        ("[1, 2]", "a list, not an object"),
        ("3", "a number"),
        ("null", "null"),
        ("true", "a boolean"),
        ('"text"', "a string"),
        ('"{\\"city\\": \\"Oslo\\"}"', "encoded twice"),
        ("\ufeff{}", "BOM"),
        (["a"], "a list"),
        (3.5, "a number"),
        ({"a": float("nan")}, "nan"),
        ({"a": {1: 2}}, "a key of type int"),
        ({"a": {2, 3}}, "a value of type set"),
        ({"a": NESTED}, "levels"),
        ({"a": b"x"}, "bytes"),
        ({"a": 10**5_000}, "thousands of digits"),
    ],
    ids=lambda value: repr(value)[:30] if isinstance(value, str) else "value",
)
def test_arguments_that_cannot_be_read_are_malformed_and_say_why(arguments: Any, words: str) -> None:
    calls = native(arguments)
    assert calls.calls == ()
    assert calls.malformed is not None
    assert words in calls.malformed
    assert calls.malformed.startswith("Tool call 1: the arguments of 'f' cannot be read: ")
    assert len(calls.malformed) < 250


@pytest.mark.timeout(60)
def test_a_value_shared_many_times_over_is_read_in_good_time() -> None:
    assert native({"a": SHARED}).malformed is None


@pytest.mark.parametrize("name", [None, "", 3, ["f"], {"f": 1}])
def test_a_name_that_is_none_is_malformed(name: Json) -> None:
    calls = native("{}", name=name)
    assert calls.calls == ()
    assert "name" in str(calls.malformed)


def test_one_broken_call_leaves_the_others() -> None:
    calls = native('{"a": 1}', "{", '{"a": 3}')
    assert calls.calls == (Call("f", {"a": 1}), Call("f", {"a": 3}))
    assert str(calls.malformed).startswith("Tool call 2: ")


def test_every_broken_call_is_told() -> None:
    assert "Tool call 1" in str(native("{", "[").malformed)
    assert "Tool call 2" in str(native("{", "[").malformed)


def test_the_id_is_kept() -> None:
    assert decode(Reply(tool_calls=(RawCall("f", "{}", "call_7"),))).calls == (Call("f", {}, "call_7"),)


def test_no_calls_and_plain_text_are_an_abstention() -> None:
    assert decode(Reply("You are welcome.")) == Calls()


def test_what_the_provider_calls_malformed_is() -> None:
    reply = Reply(tool_calls=(RawCall("f", "{}"),), malformed="MALFORMED_FUNCTION_CALL")
    assert decode(reply) == Calls((Call("f", {}),), "MALFORMED_FUNCTION_CALL")


CALL_LIKE = [
    '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>',
    "<tool_call><function=f><parameter=a>1</parameter></function></tool_call>",
    '[TOOL_CALLS] [{"name": "f", "arguments": {}}]',
    "[TOOL_CALLS]f[ARGS]{}",
    "<<function>>f(a=1)",
    '<|python_tag|>{"name": "f", "parameters": {}}',
    "<|python_tag|>f.call(a=1)",
    'functools[{"name": "f", "arguments": {}}]',
    '<|tool_call|>[{"name": "f"}]',
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f",
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0",
    "<|channel|>commentary to=functions.f <|message|>{}",
    "<start_function_call>call:f{}<end_function_call>",
    '<invoke name="f">',
    '{"name": "f", "arguments": {"a": 1}}',
    '{"name": "f", "parameters": {"a": 1}}',
    '{"type": "function", "name": "f", "parameters": {"a": 1}}',
    '{"type": "function", "function": {"name": "f", "arguments": "{\\"a\\": 1}"}}',
    '[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]',
    '{"arguments": {"a": 1}, "name": "f"}',
    '```json\n{"name": "f", "arguments": {"a": 1}}\n```',
    'Sure, I will call {"name": "f", "arguments": {"a": 1}} now.',
    "[{'name': 'f', 'parameters': {'a': 1}}]",
    '{"function": "f", "parameters": {"a": 1}}',
    '{"tool": "f", "args": {"a": 1}}',
    '{"tool_calls": [{"name": "f", "args": {}}]}',
    '[{"arguments": {"a": 1}, "function": "f"}]',
    'get_weather{"city": "Oslo"}',
    'get_weather[ARGS]{"city": "Oslo"}',
    'functions.get_weather:0 {"city": "Oslo"}',
    "call:get_weather{city:Oslo}",
    "ping{}\n",
    "[get_weather(city='Oslo'), ping()]\n",
    "[get_weather(city='Os",
]


@pytest.mark.parametrize("text", CALL_LIKE)
def test_text_that_is_meant_as_a_call_is_malformed_and_never_a_call(text: str) -> None:
    calls = decode(Reply(text))
    assert calls.calls == ()
    assert "tool-call-parser" in str(calls.malformed)


def test_a_call_left_in_the_text_is_told_beside_those_taken_out() -> None:
    calls = native("{}", text="<tool_call>…</tool_call>")
    assert calls.calls == (Call("f", {}),)
    assert calls.malformed is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It is 3 < 5, and [1, 2] is a list.",
        "Call get_weather(city='Oslo') to see.",
        '{"city": "Oslo"}',
        '{"name": "Ana", "age": 3}',
        '[{"name": "Ana"}]',
        '{"name": "get_weather", "description": "…", "parameters": {"type": "object", "properties": {}}}',
        '{"name": "get_weather", "parameters": {"type": "object"}}',
        '{"parameters": {"type": "object", "properties": {}}, "name": "get_weather"}',
        '{"function": "sales", "salary": 3}',
        '{"function": "f", "parameters": {"type": "object"}}',
        'city{name}, and {"city": "Oslo"}',
        "call: {me}",
        "interface{} is a type of Go.",
        "[get_weather()](https://example.org) is a page (of mine)]",
        "I was to write [get_weather(city='Oslo')]",
        'A person has a "name" and "arguments".',
        "```python\nprint('<hello>')\n```",
    ],
)
def test_prose_is_no_call(text: str) -> None:
    assert decode(Reply(text)) == Calls()


@given(st.text(st.characters(codec=None)), st.text(st.characters(codec=None)))
def test_any_text_and_any_arguments_give_calls(text: str, arguments: str) -> None:
    calls = native(arguments, text=text)
    assert len(calls.calls) == 1 or calls.malformed


@given(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)))
def test_what_was_written_as_json_is_read_as_it_was(arguments: dict[str, Json]) -> None:
    calls = native(json.dumps(arguments))
    if calls.malformed is None:
        assert calls.calls[0].arguments == arguments
    else:
        assert any(value in (float("inf"), float("-inf")) for value in arguments.values())


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "{" * 1_000_000,
        "[" * 1_000_000,
        '{"name": ' * 100_000,
        '{"name": "' * 100_000,
        '"name"' + " " * 1_000_000,
        '"name":' * 150_000,
        '{"a":' * 200_000 + "1" + "}" * 200_000,
        "<tool_cal" * 100_000,
        "9" * 1_000_000,
        '{"name": "f", "arguments": ' * 40_000,
        "\ud800" * 1_000_000,
        '"' * 1_000_000,
        "```" * 300_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_megabyte_is_read_in_good_time(text: str) -> None:
    native(text, text=text)
