"""Our own prompts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from string import Template
from types import MappingProxyType
from typing import Final

from pytest_fcall.backends.prompting import written
from pytest_fcall.backends.prompting.style import Style
from pytest_fcall.core import Tool

_TOOLS = """You can call tools. Each line here describes one, with the JSON Schema of its parameters:
<tools>
$tools
</tools>

"""
_HERMES = """To call a tool, write its name and arguments as a JSON object between <tool_call> tags:
<tool_call>
{"name": "tool_name", "arguments": {"parameter": "value"}}
</tool_call>
Write one such block for each call; there may be several. If no tool is needed, or an argument that a tool requires is \
not known, answer in plain text without a block."""
_JSON = """Answer with a JSON list of the calls to make, and nothing else:
[{"name": "tool_name", "arguments": {"parameter": "value"}}]
If no tool is needed, or an argument that a tool requires is not known, answer with an empty list: []"""
_PYTHON = """To call tools, write a list of calls in Python, with named arguments and literal values, and nothing else:
[tool_name(parameter="value"), other_tool(parameter=2)]
If no tool is needed, or an argument that a tool requires is not known, answer in plain text instead."""


def _lines(tools: Sequence[Tool]) -> str:
    return "\n".join(
        json.dumps(
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}, ensure_ascii=False
        )
        for tool in tools
    )


OURS: Final[Mapping[str, Style]] = MappingProxyType(
    {
        "hermes": Style(Template(_TOOLS + _HERMES), _lines, written.hermes),
        "json": Style(Template(_TOOLS + _JSON), _lines, written.json_list),
        "python": Style(Template(_TOOLS + _PYTHON), _lines, written.python),
    }
)
