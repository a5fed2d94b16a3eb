"""The families, as data. Who adds one adds an entry here, and its name to the table of decoders."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pytest_fcall.decoding.tagged import harmony as harmony_format
from pytest_fcall.decoding.tagged.bodies import GemmaCall, JsonCalls, MarkupCall, NamedJson
from pytest_fcall.decoding.tagged.family import Family, Form

_EITHER = ("arguments", "parameters")
# What only begins like JSON is a call where the first key is one of a call's.
_CALL_KEY = r'\{\s*+"(?:name"|type"\s*+:\s*+"function"|arguments"|parameters")'
_CALL_LIST = rf"\s*+\[\s*+{_CALL_KEY}"
_CALL_OR_LIST = rf"\s*+(?:\[\s*+)?+{_CALL_KEY}"
_LIST = JsonCalls(lists=True)
# Where special tokens are stripped, no more than the list is left.
_BARE_LIST = Form("", "", _LIST, then=_CALL_LIST)

hermes = Family(
    "hermes",
    "Hermes 2 and 3, Qwen 2.5, Qwen 3",
    forms=(Form("<tool_call>", "</tool_call>", JsonCalls()),),
    marks=("<tool_call>",),
)

_CODER_PARAMETER = r"\s*+<parameter=(?P<key>[^>\n]*+)>\n?(?P<value>.*?)\n?</parameter>"
qwen_coder = Family(
    "qwen_coder",
    "Qwen3-Coder, Qwen 3.5",
    forms=(
        Form(
            "<tool_call>",
            "</tool_call>",
            MarkupCall(
                head=r"\s*+<function=(?P<name>[^>\n]*+)>",
                parameter=_CODER_PARAMETER,
                opening="<parameter=",
                tail="</function>",
            ),
        ),
        # The models often forget the outer tag, and servers do not mind.
        Form(
            "<function=",
            "</function>",
            MarkupCall(head=r"(?P<name>[^>\n]*+)>", parameter=_CODER_PARAMETER, opening="<parameter="),
        ),
    ),
    marks=("<function=",),
)

_LLAMA_CALLS = JsonCalls(_EITHER, lists=True, several=True)
llama = Family(
    "llama",
    "Llama 3.1, 3.2, 3.3 and 4 with JSON calls",
    forms=(
        Form("<|python_tag|>", "", _LLAMA_CALLS),
        Form("", "", _LLAMA_CALLS, then=_CALL_OR_LIST),
        Form("```json", "```", _LLAMA_CALLS, then=_CALL_OR_LIST),
        Form("```", "```", _LLAMA_CALLS, then=_CALL_OR_LIST),
    ),
    marks=("<|python_tag|>",),
)

mistral = Family(
    "mistral",
    "Mistral, Ministral, Magistral, Devstral",
    forms=(
        Form("[TOOL_CALLS]", "", _LIST, then=r"\s*+[\[{]"),
        Form(
            "[TOOL_CALLS]",
            "",
            NamedJson(head=r"\s*+(?P<name>[^\s\[{]++)\s*+(?:\[CALL_ID\](?P<id>[^\s\[]++))?(?:\[ARGS\])?"),
        ),
        _BARE_LIST,
    ),
    marks=("[TOOL_CALLS]",),
    thinking=("[THINK]", "[/THINK]"),
)

granite = Family(
    "granite",
    "Granite 3, Granite 4, Granite 20B Function Calling",
    forms=(
        Form("<|tool_call|>", "", _LIST),
        Form("<tool_call>", "</tool_call>", _LIST, open_ended=True),
        Form("<function_call>", "", JsonCalls()),
        _BARE_LIST,
    ),
    marks=("<|tool_call|>", "<function_call>", "<tool_call>"),
)

xlam = Family(
    "xlam",
    "xLAM 1 and 2",
    forms=(
        _BARE_LIST,
        Form("```json", "```", _LIST, then=_CALL_LIST),
        Form("```", "```", _LIST, then=_CALL_LIST),
        Form("<tool_call>", "</tool_call>", _LIST, then=_CALL_LIST),
        Form("[TOOL_CALLS]", "", _LIST, then=_CALL_LIST),
    ),
)

phi = Family(
    "phi",
    "Phi-4-mini",
    forms=(
        Form("functools", "", JsonCalls(_EITHER, lists=True), then=r"\["),
        Form("<|tool_call|>", "<|/tool_call|>", JsonCalls(_EITHER, lists=True)),
    ),
    marks=("functools[", "<|/tool_call|>"),
)

deepseek = Family(
    "deepseek",
    "DeepSeek V3, R1, V3.1, V3.2 and V4",
    forms=(
        Form(
            "<｜tool▁call▁begin｜>",
            "<｜tool▁call▁end｜>",
            NamedJson(head=r"function<｜tool▁sep｜>(?P<name>[^\n<]++)\n```json\n", tail="\n```"),
            then=r"function<｜tool▁sep｜>[^\s{]",
        ),
        Form("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", NamedJson(head=r"(?P<name>[^\n<]++)<｜tool▁sep｜>")),
        Form(
            '<｜DSML｜invoke name="',
            "</｜DSML｜invoke>",
            MarkupCall(
                head=r'(?P<name>[^"\n]*+)"\s*+>',
                parameter=r'\s*+<｜DSML｜parameter name="(?P<key>[^"\n]*+)"(?: string="(?P<string>true|false)")?\s*+>'
                r"(?P<value>.*?)</｜DSML｜parameter>",
                opening="<｜DSML｜parameter",
            ),
        ),
    ),
    marks=("<｜tool▁call▁begin｜>", "<｜DSML｜invoke"),
    sections=(
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁calls▁end｜>",
        "<｜DSML｜function_calls>",
        "</｜DSML｜function_calls>",
        "<｜DSML｜tool_calls>",
        "</｜DSML｜tool_calls>",
    ),
)

kimi = Family(
    "kimi",
    "Kimi K2",
    forms=(
        Form(
            "<|tool_call_begin|>",
            "<|tool_call_end|>",
            NamedJson(
                head=r"\s*+(?P<id>(?:functions\.)?(?P<name>[^\s:<]++):\d++)\s*+<\|tool_call_argument_begin\|>",
            ),
        ),
    ),
    marks=("<|tool_call_begin|>",),
    sections=("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
)

glm = Family(
    "glm",
    "GLM 4.5, 4.6 and 4.7",
    forms=(
        Form(
            "<tool_call>",
            "</tool_call>",
            MarkupCall(
                head=r'\s*+(?P<name>[^\s<{}"]++)\s*+',
                parameter=r"\s*+<arg_key>(?P<key>[^<]*+)</arg_key>\s*+<arg_value>(?P<value>.*?)</arg_value>",
                opening="<arg_key>",
                untyped="json",
            ),
        ),
    ),
    marks=("<arg_key>", "<tool_call>"),
)

functiongemma = Family(
    "functiongemma",
    "FunctionGemma",
    forms=(Form("<start_function_call>", "<end_function_call>", GemmaCall("<escape>")),),
    marks=("<start_function_call>",),
)

gemma4 = Family(
    "gemma4",
    "Gemma 4",
    forms=(Form("<|tool_call>", "<tool_call|>", GemmaCall('<|"|>')),),
    marks=("<|tool_call>",),
    thinking=("<|channel>thought", "<channel|>"),
)

harmony = Family(
    "harmony",
    "gpt-oss",
    forms=(harmony_format.CALL,),
    marks=("to=functions.",),
    cut=harmony_format.messages,
)

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        family.name: family
        for family in (
            qwen_coder,
            glm,
            hermes,
            granite,
            phi,
            mistral,
            deepseek,
            kimi,
            functiongemma,
            gemma4,
            harmony,
            llama,
            xlam,
        )
    }
)
"""By name, those with the more telling marks first."""
