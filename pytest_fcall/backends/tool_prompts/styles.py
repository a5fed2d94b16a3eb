"""The styles of prompts: our own, and those that ask for the formats of the Berkeley leaderboard (BFCL).

A style is named after the decoder that reads the answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from string import Template
from types import MappingProxyType
from typing import Final

from pytest_fcall.backends.tool_prompts.call_formats import (
    CallWriter,
    Style,
    in_tags,
    write_bfcl_json,
    write_concise_xml,
    write_hermes,
    write_json,
    write_python,
    write_verbose_xml,
)
from pytest_fcall.core import Json, Tool

_TOOL_LIST = """You can call tools. Each line here describes one, with the JSON Schema of its parameters:
<tools>
$tools
</tools>

"""
_HERMES_INSTRUCTIONS = """To call a tool, write its name and arguments as a JSON object between <tool_call> tags:
<tool_call>
{"name": "tool_name", "arguments": {"parameter": "value"}}
</tool_call>
Write one such block for each call; there may be several. If no tool is needed, or an argument that a tool requires is \
not known, answer in plain text without a block."""
_JSON_INSTRUCTIONS = """Answer with a JSON list of the calls to make, and nothing else:
[{"name": "tool_name", "arguments": {"parameter": "value"}}]
If no tool is needed, or an argument that a tool requires is not known, answer with an empty list: []"""
_PYTHON_INSTRUCTIONS = """\
To call tools, write a list of calls in Python, with named arguments and literal values, and nothing else:
[tool_name(parameter="value"), other_tool(parameter=2)]
If no tool is needed, or an argument that a tool requires is not known, answer in plain text instead."""


def _tool_lines(tools: Sequence[Tool]) -> str:
    return "\n".join(
        json.dumps(
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}, ensure_ascii=False
        )
        for tool in tools
    )


OWN_STYLES: Final[Mapping[str, Style]] = MappingProxyType(
    {
        "hermes": Style(Template(_TOOL_LIST + _HERMES_INSTRUCTIONS), _tool_lines, write_hermes),
        "json": Style(Template(_TOOL_LIST + _JSON_INSTRUCTIONS), _tool_lines, write_json),
        "python": Style(Template(_TOOL_LIST + _PYTHON_INSTRUCTIONS), _tool_lines, write_python),
    }
)


_TASK = """You are an expert at composing function calls. You get a question and a set of functions. Make the calls \
that answer the question, one or more. If no function fits, or the question lacks a value that a function requires, \
say so."""
_HOW = "To call functions, answer with the calls and no other text, in exactly this format:"
_TYPES = "\nThe type of each parameter must be one of string, integer, float, boolean, array, dict and tuple."
_TURNS = """In each turn, go on calling functions until you have done all that the user asked for as well as you can. \
When you make no more calls, the turn is over."""
_TOOLS = "These are the functions, in JSON:\n$tools\n"
_FORMATS: Mapping[str, tuple[str, CallWriter]] = MappingProxyType(
    {
        "": (
            "[func_name1(params_name1=params_value1, params_name2=params_value2...), func_name2(params)]",
            write_python,
        ),
        "_json": (
            '```json\n[{"function":"func_name1","parameters":{"param1":"value1","param2":"value2"...}},'
            '{"function":"func_name2","parameters":{"param":"value"}}]\n```',
            write_bfcl_json,
        ),
        "_verbose_xml": (
            '<functions><function name="func_name1"><params><param name="param1" value="value1" type="type1"/>'
            '<param name="param2" value="value2" type="type2"/>...</params></function><function name="func_name2">'
            '<params><param name="param3" value="value3" type="type3"/></params></function></functions>',
            write_verbose_xml,
        ),
        "_concise_xml": (
            '<functions><function name="func_name1"><param name="param1" type="type1">value1</param>'
            '<param name="param2" type="type2">value2</param>...</function><function name="func_name2">'
            '<param name="param3" type="type3">value</param></function></functions>',
            write_concise_xml,
        ),
    }
)
_SYNTAX: Mapping[str, str] = MappingProxyType({"Python": "Python 3", "Java": "Java 8", "JavaScript": "JavaScript"})


def _style(name: str, *, tags: bool = False, language: str = "Python") -> Style:
    form, write = _FORMATS[name]
    if tags:
        form, write = f"<TOOLCALL>{form}</TOOLCALL>", in_tags(write)
    types = _TYPES if name.endswith("xml") else ""
    instructions = Template(f"{_TASK}\n\n{_HOW}\n{form}{types}\n\n{_TURNS}\n\n{_TOOLS}")
    return Style(instructions, partial(_function_documents, language), write)


def _function_documents(language: str, tools: Sequence[Tool]) -> str:
    return json.dumps([_function_document(tool, language) for tool in tools], indent=4, ensure_ascii=False)


def _function_document(tool: Tool, language: str) -> Mapping[str, Json]:
    """The function as in the leaderboard's file. For Java and JavaScript, all values are strings of source code."""
    parameters = tool.declared if tool.declared is not None else tool.parameters
    properties = parameters.get("properties")
    if language != "Python" and isinstance(properties, Mapping):
        properties = {name: _as_source_code(item, language) for name, item in properties.items()}
        parameters = {**parameters, "properties": properties}
    description = f"{tool.description} It is called in {_SYNTAX[language]} syntax.".lstrip()
    return {"name": tool.name, "description": description, "parameters": parameters}


def _as_source_code(parameter: Json, language: str) -> Json:
    if not isinstance(parameter, Mapping):
        return parameter
    type_ = parameter.get("type", "any")
    value = f"a value of any type of {language}" if type_ == "any" else f"a {language} {type_}"
    items = parameter.get("items")
    elements = f" Its elements are of type {items.get('type')}." if isinstance(items, Mapping) else ""
    keys = parameter.get("properties")
    entries = f" Its entries are {json.dumps(keys, ensure_ascii=False)}." if isinstance(keys, Mapping) else ""
    rest = {key: value for key, value in parameter.items() if key not in ("items", "properties")}
    description = f"{parameter.get('description', '')} Give {value}, in source code as a string.{elements}{entries}"
    return {**rest, "type": "string", "description": description.lstrip()}


BFCL_STYLES: Final[Mapping[str, Style]] = MappingProxyType(
    {f"bfcl{name}": _style(name) for name in _FORMATS}
    | {f"bfcl{name}_tagged": _style(name, tags=True) for name in _FORMATS}
    | {f"bfcl_{language.lower()}": _style("", language=language) for language in ("Java", "JavaScript")}
)
