"""Signs in text that a model meant to call a tool."""

from __future__ import annotations

import re
from functools import cache

from pytest_fcall.decoding.strict_json import NotJson, parse_json

OPENFUNCTIONS = "<<function>>"
"""By which Gorilla's models begin each call."""

# Tools' names have hyphens, which Python cannot read, and models escape underscores as in Markdown.
NAME = r"[^\W\d][\w.\\-]*+"
_FIRST_ARGUMENT = r"\(\s*+(?:[^\W\d]\w*+\s*+=(?!=)|['\"]|\))"
LIST_OF_CALLS = re.compile(rf"\[\s*+['\"]?(?P<name>{NAME}){_FIRST_ARGUMENT}")
"""What nobody writes in prose: a list of calls in Python whose first argument, if any, is named or a string."""

_OTHERS = (OPENFUNCTIONS, "<tool_calls>", "<TOOLCALL>", "<invoke name=")
# A schema after `parameters` makes it the definition of a tool, which prose may well show. Models that were to write
# JSON write Python's quotes, too.
_NAME_THEN_ARGUMENTS = re.compile(
    r"""["']name["']\s*+:\s*+["'][^"'\n]{1,200}+["']\s*+,\s*+["'](?:arguments|parameters)["']\s*+:\s*+"""
    r"""(?:["']\s*+\{|\{(?!\s*+["'](?:type|properties|\$ref)["']))"""
)
_DEFINES = frozenset({"type", "properties", "$ref"})
# What is left of a call where a server strips the tokens around it.
_STRIPPED = re.compile(
    r"""
    \s*+ (?: call:[\w.-]{1,200}+ \{
        | (?:functions\.)?+ [^\W\d][\w.-]{0,200}+ (?: :\d{1,6}+\s?+ | \[ARGS\] )?+
          \{\s*+ (?: "[^"\n]{1,200}"\s*+: | \}\s*+\Z )
    )
    """,
    re.VERBOSE,
)


def find_mark(text: str) -> str | None:
    """Give the sign by which text shows itself as a call, or None for prose. Takes linear time."""
    if not ("<" in text or "[" in text or "{" in text or "to=functions." in text):
        return None
    if found := _tags().search(text):
        return f"`{found[0]}`"
    if _NAME_THEN_ARGUMENTS.search(text) or _is_calls(text):
        return "JSON with `name` and `arguments`"
    if _STRIPPED.match(text):
        return "a name and arguments without the tokens around them"
    if LIST_OF_CALLS.match(bare := text.strip()) and _is_one_list(bare):
        return "a list of calls in Python"
    return None


@cache
def _tags() -> re.Pattern[str]:
    from pytest_fcall.decoding.tagged.families import FAMILIES

    marks = (*_OTHERS, *(mark for family in FAMILIES.values() for mark in family.marks))
    return re.compile("|".join(map(re.escape, dict.fromkeys(marks))))


def _is_one_list(text: str) -> bool:
    """Whether the bracket at the start is closed at the end, or nowhere."""
    from pytest_fcall.decoding.python.source import NotPython, expression_end

    try:
        return expression_end(text, 0) == len(text)
    except NotPython:
        return True


def _is_calls(text: str) -> bool:
    """Whether the whole text is JSON that says calls, in any shape that is in use."""
    if not text.lstrip().startswith(("{", "[")):
        return False
    from pytest_fcall.decoding.json_shapes import message_parts, read_call

    try:
        items = message_parts(parse_json(text)[0]).calls
        return bool(items) and not any(_DEFINES.intersection(read_call(item)[0].arguments) for item in items)
    except NotJson:
        return False
