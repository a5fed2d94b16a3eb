from __future__ import annotations

import json

import pytest

from pytest_fcall.backends.local.aliases import find_model
from pytest_fcall.backends.local.prompts import ModelPrompts, plain_prompt
from pytest_fcall.core import CaseRefused, Message, Request, Tool
from pytest_fcall.decoding.decoders import DECODERS

WEATHER = Tool(
    "get_weather",
    "Tell the weather.",
    {"type": "object", "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F"]}}, "required": ["city"]},
)
SYSTEM: Message = {"role": "system", "content": "Be short."}
USER: Message = {"role": "user", "content": "Weather in Oslo?"}
CALLED: Message = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "a", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}],
}
RESULT: Message = {"role": "tool", "tool_call_id": "a", "content": "rain"}
AGAIN: Message = {"role": "user", "content": "And in Rome?"}


def told(model: str, *messages: Message, tools: tuple[Tool, ...] = (WEATHER,)) -> str:
    return ModelPrompts(find_model(model)).prompt_text(Request(messages, tools))


def test_gorilla_is_asked_in_the_words_that_it_was_trained_on() -> None:
    functions = json.dumps(
        [{"name": "get_weather", "description": "Tell the weather.", "parameters": WEATHER.parameters}]
    )
    assert told("gorilla", USER) == (
        "You are an AI programming assistant, utilizing the Gorilla LLM model, developed by Gorilla LLM, and you only "
        "answer questions related to computer science. For politically sensitive questions, security and privacy "
        "issues, and other non-computer science questions, you will refuse to answer.\n"
        f"### Instruction: <<function>>{functions}\n<<question>>Weather in Oslo?\n### Response: "
    )


def test_gorilla_without_tools_is_asked_a_question_alone() -> None:
    assert told("gorilla", USER, tools=()).endswith("\n### Instruction: <<question>> Weather in Oslo?\n### Response: ")


def test_gorilla_is_told_the_tools_once_in_a_conversation() -> None:
    text = told("gorilla", SYSTEM, USER, CALLED, RESULT, AGAIN)
    head, _, rest = text.partition("### Instruction: ")
    assert head.endswith("you will refuse to answer.\nBe short.\n")
    assert rest.count("<<function>>") == 1
    assert rest.partition("<<question>>")[2] == (
        "Weather in Oslo?\n"
        "### Response: [get_weather(city='Oslo')]\n<|EOT|>\n"
        '### Instruction: <<question>><tool_response>\n{"name": "get_weather", "content": "rain"}\n</tool_response>\n'
        "### Instruction: <<question>>And in Rome?\n"
        "### Response: "
    )


BEGIN = "<s>"


class Beginning:
    """A tokenizer as far as nothing but its first token is wanted."""

    bos_token = BEGIN
    chat_template = None

    def apply_chat_template(self, conversation: object, /, **options: object) -> str:
        raise AssertionError


def test_gorilla_s_prompt_begins_with_the_token_that_all_texts_begin_with() -> None:
    request = Request((USER,), (WEATHER,))
    assert ModelPrompts(find_model("gorilla"), Beginning()).prompt_text(request) == f"{BEGIN}{told('gorilla', USER)}"
    assert ModelPrompts(find_model("smollm2"), Beginning()).prompt_text(request) == told("smollm2", USER)


def test_smollm2_is_told_tools_in_brief_and_shown_examples() -> None:
    lines = told("smollm2", SYSTEM, USER).split("<|im_start|>")
    assert lines[1].startswith("system\nBe short.\nYou call functions. Answer with a JSON list of calls")
    assert lines[1].endswith("Functions:\nget_weather(city, unit): Tell the weather.<|im_end|>\n")
    assert lines[-2:] == ["user\nWeather in Oslo?<|im_end|>\n", "assistant\n"]
    answers = [line.partition("\n")[2].removesuffix("<|im_end|>\n") for line in lines if line.startswith("assistant")]
    assert all(DECODERS["json"](answer, ()).malformed is None for answer in answers[:-1])
    assert "[]" in answers


def test_smollm2_reads_earlier_calls_as_it_is_to_write_them() -> None:
    text = told("smollm2", USER, CALLED, RESULT)
    assert '<|im_start|>assistant\n[{"name": "get_weather", "arguments": {"city": "Oslo"}}]<|im_end|>\n' in text


def test_smollm2_without_tools_is_told_no_form_of_calls() -> None:
    assert told("smollm2", USER, tools=()) == "<|im_start|>user\nWeather in Oslo?<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize("model", ["gorilla", "smollm2"])
def test_dollars_braces_and_odd_schemas_are_told_as_they_are(model: str) -> None:
    tools = (Tool("a", "costs $x {y} %s"), Tool("b", "", {"type": "object", "properties": 3}))
    text = told(model, {"role": "user", "content": "$tools {now} \ud800"}, tools=tools)
    assert "costs $x {y} %s" in text
    assert "$tools {now} \ud800" in text


def test_parts_of_text_are_joined() -> None:
    parts: Message = {"role": "user", "content": [{"type": "text", "text": "Wea"}, {"type": "text", "text": "ther?"}]}
    assert plain_prompt(Request((SYSTEM, parts))) == "system: Be short.\nuser: Weather?\nassistant:"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([{"type": "image_file", "image_file": {"path": "a.png"}}], "read text only, .* part of type 'image_file'"),
        (["text"], "part of type None"),
        ([{"type": "text", "text": 3}], "part of type 'text'"),
        (3, "must be a string or a list"),
        ({}, "must be a string or a list"),
    ],
)
@pytest.mark.parametrize("model", ["gorilla", "smollm2"])
def test_what_is_no_text_concerns_the_case(model: str, content: object, said: str) -> None:
    with pytest.raises(CaseRefused, match=said):
        told(model, {"role": "user", "content": content})  # type: ignore[dict-item]  # what a case file may hold


def test_a_chat_template_cannot_be_told_by_nobody() -> None:
    with pytest.raises(ValueError, match="'template' needs a tokenizer"):
        ModelPrompts(find_model("qwen3-8b"))
