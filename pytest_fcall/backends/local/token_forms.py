"""The answers of families that put marks of their own around each call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcall.backends.local.form_parts import json_schema, tag, tags_in_text, text
from pytest_fcall.core import Json, Tool


def deepseek(tools: Sequence[Tool]) -> Mapping[str, Json]:
    """V3.1's: a section of calls, each a name and JSON."""
    begin = "<｜tool▁call▁begin｜>"
    calls = [
        tag(f"{begin}{tool.name}<｜tool▁sep｜>", json_schema(tool.parameters), "<｜tool▁call▁end｜>") for tool in tools
    ]
    return _section("<｜tool▁calls▁begin｜>", calls, "<｜tool▁calls▁end｜>", begin, "<｜DSML｜")


def kimi(tools: Sequence[Tool]) -> Mapping[str, Json]:
    """A section of calls, each a name with a number, and JSON."""
    begin = "<|tool_call_begin|>"
    calls = []
    for tool in tools:
        behind: Sequence[Json] = [
            {"type": "regex", "pattern": "[0-9]{1,3}"},
            {"type": "const_string", "value": "<|tool_call_argument_begin|>"},
            json_schema(tool.parameters),
        ]
        content: Json = {"type": "sequence", "elements": behind}
        calls.append(tag(f"{begin}functions.{tool.name}:", content, "<|tool_call_end|>"))
    return _section("<|tool_calls_section_begin|>", calls, "<|tool_calls_section_end|>", begin)


def _section(begin: str, calls: Sequence[Json], end: str, *without: str) -> Mapping[str, Json]:
    """A section of calls anywhere in a text, which holds no call outside it."""
    several: Json = {"type": "tags_with_separator", "tags": calls, "separator": "", "at_least_one": True}
    return tags_in_text(begin, [tag(begin, several, end)], *without)


def harmony(tools: Sequence[Tool]) -> Mapping[str, Json]:
    """A thought or none, then one call or an answer. Both end with a token that ends the whole answer, too."""
    marks = ("<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>", "<|call|>", "<|return|>")
    thought = tag("<|channel|>analysis<|message|>", text(*marks), "<|end|><|start|>assistant")
    calls = [
        tag(
            f"<|channel|>commentary to=functions.{tool.name} <|constrain|>json<|message|>",
            json_schema(tool.parameters, *marks),
            "",
        )
        for tool in tools
    ]
    answer = tag("<|channel|>final<|message|>", text(*marks), "")
    said: Json = {"type": "or", "elements": [*calls, answer]}
    return {"type": "sequence", "elements": [{"type": "optional", "content": thought}, said]}
