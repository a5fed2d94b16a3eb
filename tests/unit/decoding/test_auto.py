"""Which decoder reads a text, nobody said."""

from __future__ import annotations

import pytest

from pytest_fcall.core import Call, Calls, Reply
from pytest_fcall.decoding.decoders import decode
from tests.unit.decoding.tools import TOOLS

PING = Call("ping", {})


def read(text: str) -> Calls:
    return decode(Reply(text, decoder="auto"), TOOLS)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[ping()]", "python"),
        ("Sure.\nping()", "python"),
        ('{"name": "ping", "arguments": {}}', "json"),
        ('Sure.\n```json\n[{"name": "ping", "arguments": {}}]\n```', "json"),
        ('{"name": "ping", "parameters": {}}; {"name": "ping", "parameters": {}}', "llama"),
        ('<|python_tag|>{"name": "ping", "parameters": {}}', "llama"),
        ('<tool_call>{"name": "ping", "arguments": {}}</tool_call>', "hermes"),
        ("<tool_call>\n<function=ping>\n</function>\n</tool_call>", "qwen_coder"),
        ("<tool_call>ping\n</tool_call>", "glm"),
        ('<tool_call>[{"name": "ping", "arguments": {}}]', "granite"),
        ('[TOOL_CALLS] [{"name": "ping", "arguments": {}}]', "mistral"),
        ("[TOOL_CALLS]ping[ARGS]{}", "mistral"),
        ('<|tool_call|>[{"name": "ping", "arguments": {}}]', "granite"),
        ('functools[{"name": "ping", "arguments": {}}]', "phi"),
        ("<|tool_call_begin|>functions.ping:0<|tool_call_argument_begin|>{}<|tool_call_end|>", "kimi"),
        ("<｜tool▁call▁begin｜>ping<｜tool▁sep｜>{}<｜tool▁call▁end｜>", "deepseek"),
        ("<start_function_call>call:ping{}<end_function_call>", "functiongemma"),
        ("<|tool_call>call:ping{}<tool_call|>", "gemma4"),
        ("<|channel|>commentary to=functions.ping <|message|>{}<|call|>", "harmony"),
        ("<<function>>ping()", "gorilla"),
        ("API.ping()", "toolbench"),
        ("ping() [SEP] ping()", "api_blend_sgd"),
        ('[{"API": "ping", "Parameters": {}}]', "api_blend_atis"),
    ],
)
def test_the_marks_show_who_wrote_it_and_a_note_says_so(text: str, name: str) -> None:
    calls = read(text)
    assert calls.malformed is None
    assert {call.name for call in calls.calls} == {"ping"}
    assert calls.notes[0] == f"The text was read as `{name}`."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "You are welcome.",
        "It is 3 < 5, and [1, 2] is a list {of two}.",
        '{"city": "Oslo"}',
        '{"name": "Ana", "age": 3}',
        '[{"name": "Ana"}, {"name": "Ben"}]',
        "[]",
        "I would use get_weather(city='Oslo').",
        "To ask yourself:\n```bash\ncurl -X GET 'https://example.org/ping'\n```",
        "<think>\nping()\n</think>\nHello.",
    ],
)
def test_prose_is_no_call(text: str) -> None:
    assert read(text) == Calls()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('Sure: {"name": "ping", "arguments": {}}', "not JSON"),
        ('<tool_call>{"name": "ping"', "cut off"),
        ("<tool_call>ping\n<arg_key>a</tool_call>", "a parameter of 'ping' is not closed"),
        ("<<function>>ping(", "not closed"),
        ('{"name": "ping"}', "has no `arguments`"),
        ('[{"name": "ping"}, {"arguments": {}}]', "has no `arguments`"),
        ('<invoke name="ping">', "`<invoke name=`"),
        ("get_weather(city=Oslo)", "not a literal"),
    ],
)
def test_what_shows_the_marks_of_a_call_and_cannot_be_read_is_malformed(text: str, words: str) -> None:
    calls = read(text)
    assert calls.calls == ()
    assert words in str(calls.malformed)


def test_what_two_decoders_read_differently_is_malformed() -> None:
    hermes = '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'
    gemma = "<|tool_call>call:get_weather{}<tool_call|>"
    # Each stands in what the other takes for thinking.
    assert read(f"<think>{gemma}<|channel>thought</think>{hermes}<channel|>") == Calls(
        malformed="The text can be read by `hermes` and differently by `gemma4`: set a `decoder:`."
    )
