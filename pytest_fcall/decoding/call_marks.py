"""Marks in text by which a model's tool call can be recognised."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

OPENFUNCTIONS = "<<function>>"
"""The token before each call of Gorilla's models."""

FAMILY_MARKS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "qwen_coder": ("<function=",),
        "glm": ("<arg_key>", "<tool_call>"),
        "hermes": ("<tool_call>",),
        "granite": ("<|tool_call|>", "<function_call>", "<tool_call>"),
        "phi": ("functools[", "<|/tool_call|>"),
        "mistral": ("[TOOL_CALLS]",),
        "deepseek": ("<｜tool▁call▁begin｜>", "<｜DSML｜invoke"),
        "kimi": ("<|tool_call_begin|>",),
        "functiongemma": ("<start_function_call>",),
        "gemma4": ("<|tool_call>",),
        "harmony": ("to=functions.",),
        "llama": ("<|python_tag|>",),
    }
)
"""By family of models, the tokens of its calls, the most specific first. `auto` prefers the families in this order."""

# The patterns stay strings, which `re` compiles at first use: most replies need none of them.
_OTHER_MARKS = (OPENFUNCTIONS, "<tool_calls>", "<TOOLCALL>", "<invoke name=")
_MARK = "|".join(
    map(re.escape, dict.fromkeys((*_OTHER_MARKS, *(mark for marks in FAMILY_MARKS.values() for mark in marks))))
)
# A schema after `parameters` makes it the definition of a tool, which prose may contain. Models that should write
# JSON write Python's quotes, too.
_NAME_THEN_ARGUMENTS = (
    r"""["']name["']\s*+:\s*+["'][^"'\n]{1,200}+["']\s*+,\s*+["'](?:arguments|parameters)["']\s*+:\s*+"""
    r"""(?:["']\s*+\{|\{(?!\s*+["'](?:type|properties|\$ref)["']))"""
)
_SCHEMA_KEYS = frozenset({"type", "properties", "$ref"})
# What is left of a call where a server strips the tokens around it.
_STRIPPED_CALL = r"""(?x)
    \s*+ (?: call:[\w.-]{1,200}+ \{
        | (?>(?:functions\.)?) [^\W\d][\w.-]{0,200}+ (?>(?: :\d{1,6}+\s?+ | \[ARGS\] )?)
          \{\s*+ (?: "[^"\n]{1,200}"\s*+: | \}\s*+\Z )
        | (?!json\b) [^\W\d][\w.-]{0,200}+ [ \t]*+\n\s*+ \{\s*+ (?: "[^"\n]{1,200}"\s*+: | \}\s*+\Z )
    )
    """
# Tool names may contain hyphens, which Python cannot read, and models escape underscores as in Markdown.
NAME = r"[^\W\d][\w.\\-]*+"
FIRST_ARGUMENT = r"\(\s*+(?:[^\W\d]\w*+\s*+=(?!=)|['\"]|\))"
LIST_OF_CALLS = rf"\[\s*+['\"]?(?P<name>{NAME}){FIRST_ARGUMENT}"
"""A pattern of what prose does not contain: a list of Python calls whose first argument, if any, is named or quoted."""


def find_mark(text: str) -> str | None:
    """Give the mark by which a text can be recognised as a call, None for prose. Takes linear time."""
    if not ("<" in text or "[" in text or "{" in text or "to=functions." in text):
        return None
    if mark := re.search(_MARK, text):
        return f"`{mark[0]}`"
    if re.search(_NAME_THEN_ARGUMENTS, text) or _is_json_calls(text):
        return "JSON with `name` and `arguments`"
    if re.match(_STRIPPED_CALL, text):
        return "a name and arguments without the tokens around them"
    if re.match(LIST_OF_CALLS, bare := text.strip()) and _is_one_list(bare):
        return "a list of calls in Python"
    return None


def _is_json_calls(text: str) -> bool:
    """Whether the whole text is JSON with calls, in any known shape."""
    if not text.lstrip().startswith(("{", "[")):
        return False
    from pytest_fcall.decoding.json_shapes import message_parts, read_call
    from pytest_fcall.decoding.strict_json import NotJson, parse_json

    try:
        items = message_parts(parse_json(text)[0]).calls
        return bool(items) and not any(_SCHEMA_KEYS.intersection(read_call(item)[0].arguments) for item in items)
    except NotJson:
        return False


def _is_one_list(text: str) -> bool:
    """Whether the bracket at the start is closed at the end, or not at all."""
    from pytest_fcall.decoding.python_source import NotPython, expression_end

    try:
        return expression_end(text, 0) == len(text)
    except NotPython:
        return True
