"""What stands around calls: thinking, prose, the end of the turn."""

from __future__ import annotations

import pytest

from pytest_fcall.core import Call, Calls, Json, Tool
from pytest_fcall.decoding.decoders import DECODERS

CALL = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
READ = (Call("f", {}),)


def read(text: str, family: str = "hermes") -> Calls:
    return DECODERS[family](text, ())


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("hermes", f"<think>I might say {CALL}.</think>Hello."),
        ("hermes", f"I might say {CALL}.</think>Hello."),
        ("hermes", f"<think>I might say {CALL}"),
        ("mistral", "[THINK][TOOL_CALLS]f[ARGS]{}[/THINK]Hello."),
        ("gemma4", "<|channel>thought\n<|tool_call>call:f{}<tool_call|><channel|>Hello."),
        ("harmony", "<|channel|>analysis<|message|>to=functions.f<|end|><|channel|>final<|message|>Hello.<|return|>"),
    ],
)
def test_what_is_only_thought_is_no_call_but_noted(family: str, text: str) -> None:
    found = read(text, family)
    assert (found.calls, found.malformed) == ((), None)
    assert "inside the thinking was not read" in found.notes[0]


@pytest.mark.parametrize(
    "text",
    [
        f"<think>Hm.</think>\n\n{CALL}",
        f"Hm.\n</think>\n\n{CALL}",
        f"<think>\n\n</think>{CALL}",
        f"{CALL}<think>Done.</think>",
        f"{CALL}<|im_end|>",
        f"{CALL}\n<|im_end|>\n<|endoftext|>",
    ],
)
def test_thinking_and_ends_are_silent(text: str) -> None:
    assert read(text) == Calls(READ)


def test_what_stands_behind_the_end_of_the_turn_is_not_the_models_answer() -> None:
    found = read(f"{CALL}<|im_end|>\n<|im_start|>user\n{CALL}<|im_end|>")
    assert (found.calls, found.malformed) == (READ, None)
    assert "after the end of the answer was dropped" in found.notes[0]


def test_a_tool_result_that_the_model_made_up_ends_its_turn() -> None:
    found = read(
        "<|channel|>commentary to=functions.f<|message|>{}<|call|>"
        "<|start|>functions.f to=assistant<|channel|>commentary<|message|>{}<|end|>"
        "<|start|>assistant<|channel|>commentary to=functions.g<|message|>{}<|call|>",
        "harmony",
    )
    assert (found.calls, found.malformed) == (READ, None)
    assert "after the end" in found.notes[0]


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("hermes", f"{CALL}\nI have asked."),
        ("mistral", '[TOOL_CALLS] [{"name": "f", "arguments": {}}]\n\nI have asked.'),
        ("mistral", "[TOOL_CALLS]f[ARGS]{}\nI have asked."),
        ("llama", '{"name": "f", "parameters": {}}\n\nI have asked.'),
        ("granite", '<function_call>{"name": "f", "arguments": {}} I have asked.'),
        ("phi", 'functools[{"name": "f", "arguments": {}}] I have asked.<|end|>'),
    ],
)
def test_what_is_said_behind_a_call_is_noted(family: str, text: str) -> None:
    assert read(text, family) == Calls(READ, notes=("Text beside the calls was dropped: 'I have asked.'.",))


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("hermes", '<tool_call>{"name": "f", "arguments": {"a": 1, "a": 2}}</tool_call>'),
        ("qwen_coder", "<function=f><parameter=a>1</parameter><parameter=a>2</parameter></function>"),
        (
            "deepseek",
            '<｜DSML｜invoke name="f"><｜DSML｜parameter name="a" string="true">1</｜DSML｜parameter>'
            '<｜DSML｜parameter name="a" string="false">2</｜DSML｜parameter></｜DSML｜invoke>',
        ),
        ("kimi", '<|tool_call_begin|>f:0<|tool_call_argument_begin|>{"a": 1, "a": 2}<|tool_call_end|>'),
        ("gemma4", "<|tool_call>call:f{a:1,a:2}<tool_call|>"),
    ],
)
def test_an_argument_that_stands_twice_is_noted(family: str, text: str) -> None:
    found = read(text, family)
    assert found.malformed is None
    assert found.calls[0].arguments["a"] in (2, "2")
    assert "'a' is repeated" in found.notes[0]


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("qwen_coder", '<function=f><parameter=o>{"a": 1, "a": 2}</parameter></function>'),
        ("qwen_coder", "<function=f><parameter=o>{'a': 1, 'a': 2}</parameter></function>"),
        (
            "glm",
            '<tool_call>f<arg_key>o</arg_key><arg_value>{"a": 1, "a": 2}</arg_value></tool_call>',
        ),
        (
            "deepseek",
            '<｜DSML｜invoke name="f"><｜DSML｜parameter name="o" string="false">{"a": 1, "a": 2}</｜DSML｜parameter>'
            "</｜DSML｜invoke>",
        ),
        ("toolbench", """curl x.org -d 'o={"a": 1, "a": 2}' -XF"""),
        ("api_blend_sgd", 'f(o = {"a": 1, "a": 2})'),
    ],
)
def test_a_key_that_stands_twice_in_a_value_is_noted(family: str, text: str) -> None:
    properties: dict[str, Json] = {"o": {"type": "object"}}
    tools = [Tool(name, parameters={"type": "object", "properties": properties}) for name in ("f", "F /")]
    found = DECODERS[family](text, tools)
    assert [call.arguments for call in found.calls] == [{"o": {"a": 2}}]
    assert found.notes == ("Call 1: The key 'a' is repeated; the last value counts.",)


def test_many_broken_calls_are_told_in_few_words() -> None:
    found = read("<tool_call>" * 10_000)
    assert "And 9,995 more." in str(found.malformed)
    assert len(str(found.malformed)) < 1_000
