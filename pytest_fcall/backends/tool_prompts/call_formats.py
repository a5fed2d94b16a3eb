"""Calls written as text, in each format that a prompt may ask for; and the style that joins prompt and format."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import TypeAlias
from xml.sax.saxutils import escape, quoteattr

from pytest_fcall.core import Call, Json, Tool


@dataclass(frozen=True, slots=True)
class Style:
    """How tools are told in a prompt, and how the model is to write its calls."""

    instructions: Template
    """What the model is told; takes `$tools`."""
    tools: Callable[[Sequence[Tool]], str]
    written: Callable[[Sequence[Call]], str]
    """Writes calls that were made earlier in a conversation as the model is told to write them."""


Written: TypeAlias = Callable[[Sequence[Call]], str]

_TYPES: Mapping[type, str] = {bool: "boolean", int: "integer", float: "float", str: "string", type(None): "null"}


def hermes(calls: Sequence[Call]) -> str:
    """One JSON object between `<tool_call>` tags for each call."""
    return "\n".join(f"<tool_call>\n{_json(_named(call))}\n</tool_call>" for call in calls)


def json_list(calls: Sequence[Call]) -> str:
    """A JSON list of calls."""
    return _json([_named(call) for call in calls])


def python(calls: Sequence[Call]) -> str:
    """A list of calls in Python."""
    return f"[{', '.join(_python(call) for call in calls)}]"


def bfcl_json(calls: Sequence[Call]) -> str:
    """A JSON list in a fence, with the leaderboard's keys."""
    listed: list[Json] = [{"function": call.name, "parameters": call.arguments} for call in calls]
    return f"```json\n{_json(listed)}\n```"


def verbose_xml(calls: Sequence[Call]) -> str:
    """Values in attributes."""
    return _xml(
        calls, "<params>", "</params>", lambda name, kind, text: f"<param {name} value={quoteattr(text)} {kind}/>"
    )


def concise_xml(calls: Sequence[Call]) -> str:
    """Values as text."""
    return _xml(calls, "", "", lambda name, kind, text: f"<param {name} {kind}>{escape(text)}</param>")


def in_tags(calls: Written) -> Written:
    """The same between `<TOOLCALL>` tags."""
    return lambda made: f"<TOOLCALL>{calls(made)}</TOOLCALL>"


def _xml(calls: Sequence[Call], opening: str, closing: str, parameter: Callable[[str, str, str], str]) -> str:
    functions = (
        f"<function name={quoteattr(call.name)}>{opening}{''.join(_parameters(call, parameter))}{closing}</function>"
        for call in calls
    )
    return f"<functions>{''.join(functions)}</functions>"


def _parameters(call: Call, parameter: Callable[[str, str, str], str]) -> list[str]:
    return [
        parameter(f"name={quoteattr(name)}", f'type="{_xml_type(value)}"', _xml_text(value))
        for name, value in call.arguments.items()
    ]


def _xml_type(value: Json) -> str:
    return "dict" if isinstance(value, Mapping) else _TYPES.get(type(value), "array")


def _xml_text(value: Json) -> str:
    return value if isinstance(value, str) else _json(value) if isinstance(value, bool) else repr(value)


def _named(call: Call) -> Mapping[str, Json]:
    return {"name": call.name, "arguments": call.arguments}


def _python(call: Call) -> str:
    return f"{call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
