"""How tools are told in a prompt, and how the model is to write its calls: one style for each decoder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Template
from types import MappingProxyType
from typing import Final

from pytest_fcall.backends.prompting import written
from pytest_fcall.core import Tool


@dataclass(frozen=True, slots=True)
class Style:
    """A format for calls, in words for the model. Named after the decoder that reads it."""

    instructions: Template
    """Takes `$tools`."""
    tools: Callable[[Sequence[Tool]], str]
    written: written.Written


def _lines(tools: Sequence[Tool]) -> str:
    return "\n".join(
        json.dumps(
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}, ensure_ascii=False
        )
        for tool in tools
    )


_OURS = """You can call tools. Each line here describes one, with the JSON Schema of its parameters:
<tools>
$tools
</tools>

"""

HERMES = Style(
    Template(
        _OURS + "To call a tool, write its name and arguments as a JSON object between <tool_call> tags:\n"
        "<tool_call>\n"
        '{"name": "tool_name", "arguments": {"parameter": "value"}}\n'
        "</tool_call>\n"
        "Write one such block for each call; there may be several. Results come back between <tool_response> tags. "
        "If no tool is needed, or an argument that a tool requires is not known, answer in plain text without a block."
    ),
    _lines,
    written.tagged,
)
JSON = Style(
    Template(
        _OURS + "Answer with a JSON list of the calls to make, and nothing else:\n"
        '[{"name": "tool_name", "arguments": {"parameter": "value"}}]\n'
        "If no tool is needed, or an argument that a tool requires is not known, answer with an empty list: []"
    ),
    _lines,
    written.listed,
)
PYTHON = Style(
    Template(
        _OURS + "To call tools, write a list of calls in Python, with literal values for named arguments, and nothing "
        "else:\n"
        '[tool_name(parameter="value"), other_tool(parameter=2)]\n'
        "If no tool is needed, or an argument that a tool requires is not known, answer in plain text instead."
    ),
    _lines,
    written.python,
)

STYLES: Final[Mapping[str, Style]] = MappingProxyType({"hermes": HERMES, "json": JSON, "python": PYTHON})
DEFAULT_STYLE: Final = "hermes"
