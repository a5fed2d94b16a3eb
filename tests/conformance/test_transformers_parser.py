"""Well-formed texts of the model families, read by transformers' response parser and by ours.

It needs transformers, which the tests install nowhere: without it there is nothing to compare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.core import Call, Json, Tool
from pytest_fcall.decoding.decoders import DECODERS
from tests.unit.decoding.tagged.encoders import ENCODERS, Encoder

parser: Any = pytest.importorskip(
    "transformers.utils.chat_parsing.response_parser",
    reason="transformers 5.20 or later is not installed: its parser cannot be asked",
)

TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")
PROPERTIES: dict[str, Json] = {f"a_{kind}": {"type": kind} for kind in TYPES}
PARAMETERS: dict[str, Json] = {"type": "object", "properties": PROPERTIES}
NAMES = ("find", "book_2")


def template(ends: str | Sequence[str], **calls: Json) -> Json:
    """A response template in which all text but the calls is content that `ends` close."""
    content = {"close": [ends] if isinstance(ends, str) else list(ends), "content": "text"}
    return {
        "defaults": {"role": "assistant"},
        "start_anchor": "<|never|>",
        "fields": {"tool_calls": {"content": "json"} | calls, "content": content},
    }


def function(name: str, arguments: str) -> Json:
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


NAMED = {"repeats": True, "transform": function("{name}", "{content}")}
LISTED = {"transform_each": True, "transform": function("{name}", "{arguments}")}
OBJECT = {"repeats": True, "transform": function("{content.name}", "{content.arguments}")}
WITH_PARAMETERS = {"repeats": True, "transform": function("{content.name}", "{content.parameters}")}


def markup(parameter: str) -> dict[str, Json]:
    return NAMED | {"content": "xml-inline", "content_args": {"tag_pattern": parameter}}


def gemma(quote: str) -> dict[str, Json]:
    return NAMED | {"content_args": {"unquoted_keys": True, "string_delims": [[quote, quote]]}}


HERMES = template("<|im_end|>", open="<tool_call>", close="</tool_call>", **OBJECT)
DEEPSEEK_ENDS = ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜end▁of▁sentence｜>")
# One for each encoder of the family, in their order.
TEMPLATES: Mapping[str, Sequence[Json]] = {
    "hermes": [HERMES],
    "qwen_coder": [
        template(
            "<|im_end|>",
            open_pattern=r"<tool_call>\s*<function=(?P<name>[^>]+)>",
            close_pattern=r"</function>\s*</tool_call>",
            **markup(r"<parameter=(?P<key>[^>]+)>\n(?P<value>.*?)\n</parameter>"),
        )
    ],
    "llama": [
        template("<|eot_id|>", open_pattern=r'(?=\{"name")', close_pattern=r";\s*(?=\{)|$", **WITH_PARAMETERS),
        template(
            "<|eot_id|>",
            open_pattern=r'(?:<\|python_tag\|>)?(?=\{"name")',
            close_pattern=r";\s*(?=\{)|<\|eom_id\|>",
            **WITH_PARAMETERS,
        ),
    ],
    "mistral": [
        template(
            "</s>",
            open_pattern=r"\[TOOL_CALLS\](?P<name>\w+)\[ARGS\]",
            close_pattern=r"(?=\[TOOL_CALLS\]|</s>)",
            **NAMED,
        ),
        template("</s>", open="[TOOL_CALLS]", close="</s>", **LISTED),
    ],
    "granite": [
        template("<|end_of_text|>", open="<|tool_call|>", close="<|end_of_text|>", **LISTED),
        template("<|end_of_text|>", open="<function_call>", close_pattern=r"(?=<function_call>)|$", **OBJECT),
        HERMES,
    ],
    "xlam": [
        template("<|eot_id|>", open_pattern=r"(?=\[)", close_pattern=r"<\|eot_id\|>|$", **LISTED),
        template("<|eot_id|>", open="```json", close="```", **LISTED),
    ],
    "phi": [template("<|end|>", open="functools", close="<|end|>", **LISTED)],
    "deepseek": [
        template(
            DEEPSEEK_ENDS,
            open_pattern=r"<｜tool▁call▁begin｜>function<｜tool▁sep｜>(?P<name>\w+)\n```json\n",
            close="\n```<｜tool▁call▁end｜>",
            **NAMED,
        ),
        template(
            DEEPSEEK_ENDS,
            open_pattern=r"<｜tool▁call▁begin｜>(?P<name>\w+)<｜tool▁sep｜>",
            close="<｜tool▁call▁end｜>",
            **NAMED,
        ),
        template(
            ("<｜DSML｜function_calls>", "</｜DSML｜function_calls>"),
            open_pattern=r'<｜DSML｜invoke name="(?P<name>\w+)">',
            close="</｜DSML｜invoke>",
            **markup(
                r'<｜DSML｜parameter name="(?P<key>\w+)" string="(?:true|false)">(?P<value>.*?)</｜DSML｜parameter>'
            ),
        ),
    ],
    "kimi": [
        template(
            ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|im_end|>"),
            open_pattern=r"<\|tool_call_begin\|>functions\.(?P<name>\w+):\d+<\|tool_call_argument_begin\|>",
            close="<|tool_call_end|>",
            **NAMED,
        )
    ],
    "glm": [
        template(
            "<|observation|>",
            open_pattern=r"<tool_call>(?P<name>\w+)\s*",
            close="</tool_call>",
            **markup(r"<arg_key>(?P<key>\w+)</arg_key>\s*<arg_value>(?P<value>.*?)</arg_value>"),
        )
    ],
    "functiongemma": [
        template(
            "<end_of_turn>",
            open_pattern=r"<start_function_call>call:(?P<name>\w+)",
            close="<end_function_call>",
            **gemma("<escape>"),
        )
    ],
    "gemma4": [
        template(
            "<turn|>",
            open_pattern=r"<\|tool_call>call:(?P<name>\w+)",
            close="<tool_call|>",
            **gemma('<|"|>'),
        )
    ],
    "harmony": [
        template(
            ("<|start|>assistant", "<|return|>"),
            open_pattern=r"<\|channel\|>commentary to=functions\.(?P<name>\w+) <\|constrain\|>json<\|message\|>",
            close="<|call|>",
            **NAMED,
        )
    ],
}

# Their scanner takes a bracket or a semicolon within a string for one that is not.
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="<>|[]{};,:`\"'", exclude_categories=["C"]))
LEAVES = st.booleans() | st.integers() | TEXTS
OF_TYPE: Mapping[str, st.SearchStrategy[Json]] = {
    "string": TEXTS,
    "integer": st.integers(),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    "null": st.none(),
    "array": st.lists(LEAVES | st.lists(LEAVES, max_size=2), max_size=3),
    "object": st.dictionaries(st.from_regex(r"[a-z_]{1,5}", fullmatch=True), LEAVES, max_size=3),
}


@st.composite
def calls(draw: st.DrawFn) -> Call:
    kinds = draw(st.lists(st.sampled_from(TYPES), unique=True))
    return Call(draw(st.sampled_from(NAMES)), {f"a_{kind}": draw(OF_TYPE[kind]) for kind in kinds})


def theirs(text: str, response_template: Json) -> list[Call]:
    tools = [{"type": "function", "function": {"name": name, "parameters": PARAMETERS}} for name in NAMES]
    message = parser.parse_response(text, response_template, prefix="", tools=tools)
    found = [call["function"] for call in message.get("tool_calls", [])]
    return [Call(call["name"], call["arguments"]) for call in found]


def ours(text: str, family: str) -> list[Call]:
    found = DECODERS[family](text, [Tool(name, parameters=PARAMETERS) for name in NAMES])
    assert found.malformed is None
    return [Call(call.name, call.arguments) for call in found.calls]


@pytest.mark.parametrize(
    ("family", "encode", "response_template"),
    [
        pytest.param(family, encode, each, id=f"{family}-{number}")
        for family, ways in ENCODERS.items()
        for number, (encode, each) in enumerate(zip(ways, TEMPLATES[family], strict=True))
    ],
)
@given(made=st.lists(calls(), min_size=1, max_size=3))
def test_both_read_the_same_calls(family: str, encode: Encoder, response_template: Json, made: list[Call]) -> None:
    text = encode(made)
    assert ours(text, family) == theirs(text, response_template) == made
