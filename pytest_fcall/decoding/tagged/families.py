"""The families of models, as data, and their decoders.

A new family needs an entry here, its marks in `FAMILY_MARKS`, and its name in the table of decoders.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_fcall.decoding.tagged.bodies import GemmaCall, JsonCalls, MarkupCall, NamedJson, NamedJsonTurns
from pytest_fcall.decoding.tagged.family import Family, Form, decode_family
from pytest_fcall.decoding.tagged.harmony import HARMONY_CALL, harmony_pieces

if TYPE_CHECKING:
    from pytest_fcall.core.extension import Decoder

_EITHER = ("arguments", "parameters")
# Text that only begins like JSON is a call if its first key is one of a call's.
_CALL_KEY = r'\{\s*+"(?:name"|type"\s*+:\s*+"function"|arguments"|parameters")'
_CALL_LIST = rf"\s*+\[\s*+{_CALL_KEY}"
_CALL_OR_LIST = rf"\s*+(?>(?:\[\s*+)?){_CALL_KEY}"
_LIST = JsonCalls(lists=True)
# Where servers strip special tokens, only the list is left.
_BARE_LIST = Form("", "", _LIST, lookahead=_CALL_LIST)

_NAME_LINE = r"[\w.-]{1,200}+[ \t]*+\n\s*+\{"
_GLM4_CALLS = NamedJsonTurns(head=r"\s*+(?P<name>[^\s{}]++)[ \t]*+\n")

_CODER_PARAMETER = r"\s*+<parameter=(?P<key>[^>\n]*+)>\n?(?P<value>.*?)\n?</parameter>"
_LLAMA_CALLS = JsonCalls(_EITHER, lists=True, several=True)

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        family.name: family
        for family in (
            Family(
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
                    # The models often forget the outer tag, and servers accept that.
                    Form(
                        "<function=",
                        "</function>",
                        MarkupCall(head=r"(?P<name>[^>\n]*+)>", parameter=_CODER_PARAMETER, opening="<parameter="),
                    ),
                ),
            ),
            Family(
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
            ),
            Family(
                "glm4",
                "GLM 4",
                forms=(
                    Form("", "", _GLM4_CALLS, lookahead=_NAME_LINE),
                    Form("<|assistant|>", "", _GLM4_CALLS, lookahead=rf"\s*+{_NAME_LINE}"),
                ),
            ),
            Family(
                "hermes",
                "Hermes 2 and 3, Qwen 2.5, Qwen 3",
                forms=(Form("<tool_call>", "</tool_call>", JsonCalls()),),
            ),
            Family(
                "granite",
                "Granite 3, Granite 4, Granite 20B Function Calling",
                forms=(
                    Form("<|tool_call|>", "", _LIST),
                    Form("<tool_call>", "</tool_call>", _LIST, closing_optional=True),
                    Form("<function_call>", "", JsonCalls()),
                    _BARE_LIST,
                ),
            ),
            Family(
                "phi",
                "Phi-4-mini",
                forms=(
                    Form("functools", "", JsonCalls(_EITHER, lists=True), lookahead=r"\["),
                    Form("<|tool_call|>", "<|/tool_call|>", JsonCalls(_EITHER, lists=True)),
                ),
            ),
            Family(
                "mistral",
                "Mistral, Ministral, Magistral, Devstral",
                forms=(
                    Form("[TOOL_CALLS]", "", _LIST, lookahead=r"\s*+[\[{]"),
                    Form(
                        "[TOOL_CALLS]",
                        "",
                        NamedJson(head=r"\s*+(?P<name>[^\s\[{]++)\s*+(?:\[CALL_ID\](?P<id>[^\s\[]++))?(?:\[ARGS\])?"),
                    ),
                    _BARE_LIST,
                ),
                thinking=("[THINK]", "[/THINK]"),
            ),
            Family(
                "deepseek",
                "DeepSeek V3, R1, V3.1, V3.2 and V4",
                forms=(
                    Form(
                        "<｜tool▁call▁begin｜>",
                        "<｜tool▁call▁end｜>",
                        NamedJson(head=r"function<｜tool▁sep｜>(?P<name>[^\n<]++)\n```json\n", tail="\n```"),
                        lookahead=r"function<｜tool▁sep｜>[^\s{]",
                    ),
                    Form(
                        "<｜tool▁call▁begin｜>",
                        "<｜tool▁call▁end｜>",
                        NamedJson(head=r"(?P<name>[^\n<]++)<｜tool▁sep｜>"),
                    ),
                    Form(
                        '<｜DSML｜invoke name="',
                        "</｜DSML｜invoke>",
                        MarkupCall(
                            head=r'(?P<name>[^"\n]*+)"\s*+>',
                            parameter=r'\s*+<｜DSML｜parameter name="(?P<key>[^"\n]*+)"'
                            r'(?: string="(?P<string>true|false)")?\s*+>'
                            r"(?P<value>.*?)</｜DSML｜parameter>",
                            opening="<｜DSML｜parameter",
                        ),
                    ),
                ),
                sections=(
                    "<｜tool▁calls▁begin｜>",
                    "<｜tool▁calls▁end｜>",
                    "<｜DSML｜function_calls>",
                    "</｜DSML｜function_calls>",
                    "<｜DSML｜tool_calls>",
                    "</｜DSML｜tool_calls>",
                ),
            ),
            Family(
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
                sections=("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
            ),
            Family(
                "functiongemma",
                "FunctionGemma",
                forms=(Form("<start_function_call>", "<end_function_call>", GemmaCall(quote="<escape>")),),
            ),
            Family(
                "gemma4",
                "Gemma 4",
                forms=(Form("<|tool_call>", "<tool_call|>", GemmaCall(quote='<|"|>')),),
                thinking=("<|channel>thought", "<channel|>"),
            ),
            Family(
                "harmony",
                "gpt-oss",
                forms=(HARMONY_CALL,),
                scanner=harmony_pieces,
            ),
            Family(
                "llama",
                "Llama 3.1, 3.2, 3.3 and 4 with JSON calls",
                forms=(
                    Form("<|python_tag|>", "", _LLAMA_CALLS),
                    Form("", "", _LLAMA_CALLS, lookahead=_CALL_OR_LIST),
                    Form("```json", "```", _LLAMA_CALLS, lookahead=_CALL_OR_LIST),
                    Form("```", "```", _LLAMA_CALLS, lookahead=_CALL_OR_LIST),
                ),
            ),
            Family(
                "xlam",
                "xLAM 1 and 2",
                forms=(
                    _BARE_LIST,
                    Form("```json", "```", _LIST, lookahead=_CALL_LIST),
                    Form("```", "```", _LIST, lookahead=_CALL_LIST),
                    Form("<tool_call>", "</tool_call>", _LIST, lookahead=_CALL_LIST),
                    Form("[TOOL_CALLS]", "", _LIST, lookahead=_CALL_LIST),
                ),
            ),
        )
    }
)
"""By name, in the order of `FAMILY_MARKS`."""

FAMILY_DECODERS: Mapping[str, Decoder] = MappingProxyType(
    {name: partial(decode_family, family) for name, family in FAMILIES.items()}
)
"""By name, the decoder of each family."""
