"""Tools described in the prompt, for models without an interface for tools."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from string import Template
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_fcall.core.reply import Call, calls_source
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.core.values import Json, Message

_CallWriter: TypeAlias = Callable[[Sequence[Call]], str]

_XML_TYPES: Mapping[type, str] = {bool: "boolean", int: "integer", float: "float", str: "string", type(None): "null"}


@dataclass(frozen=True, slots=True)
class Style:
    """The instructions of a prompt, the form of the tools in it, and the form of the calls in the answer."""

    instructions: Template
    """Takes `$tools`."""
    tools_as_text: Callable[[Sequence[Tool]], str]
    calls_as_text: _CallWriter
    """Writes the earlier calls of a conversation in the form that the instructions ask for."""


def _write_hermes(calls: Sequence[Call]) -> str:
    """One JSON object between `<tool_call>` tags for each call."""
    return "\n".join(f"<tool_call>\n{_json(_named(call))}\n</tool_call>" for call in calls)


def _write_json(calls: Sequence[Call]) -> str:
    """A JSON list of calls."""
    return _json([_named(call) for call in calls])


def _write_bfcl_json(calls: Sequence[Call]) -> str:
    """A JSON list in a code fence, with the leaderboard's keys."""
    data: list[Json] = [{"function": call.name, "parameters": call.arguments} for call in calls]
    return f"```json\n{_json(data)}\n```"


def _write_verbose_xml(calls: Sequence[Call]) -> str:
    """XML with the values in attributes."""
    from xml.sax.saxutils import quoteattr

    def parameter(name: str, type_: str, value: str) -> str:
        return f"<param {name} value={quoteattr(value)} {type_}/>"

    return _xml(calls, "<params>", "</params>", parameter)


def _write_concise_xml(calls: Sequence[Call]) -> str:
    """XML with the values as text."""
    from xml.sax.saxutils import escape

    def parameter(name: str, type_: str, value: str) -> str:
        return f"<param {name} {type_}>{escape(value)}</param>"

    return _xml(calls, "", "", parameter)


def _in_tags(write: _CallWriter) -> _CallWriter:
    """The same format between `<TOOLCALL>` tags."""
    return lambda calls: f"<TOOLCALL>{write(calls)}</TOOLCALL>"


def _xml(calls: Sequence[Call], opening: str, closing: str, parameter: Callable[[str, str, str], str]) -> str:
    from xml.sax.saxutils import quoteattr  # late: it loads urllib.request

    functions = []
    for call in calls:
        parameters = "".join(
            parameter(f"name={quoteattr(name)}", f'type="{_xml_type(value)}"', _xml_value(value))
            for name, value in call.arguments.items()
        )
        functions.append(f"<function name={quoteattr(call.name)}>{opening}{parameters}{closing}</function>")
    return f"<functions>{''.join(functions)}</functions>"


def _xml_type(value: Json) -> str:
    return "dict" if isinstance(value, Mapping) else _XML_TYPES.get(type(value), "array")


def _xml_value(value: Json) -> str:
    return value if isinstance(value, str) else _json(value) if isinstance(value, bool) else repr(value)


def _named(call: Call) -> Mapping[str, Json]:
    return {"name": call.name, "arguments": call.arguments}


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


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


_OWN_STYLES: Final[Mapping[str, Style]] = MappingProxyType(
    {
        "hermes": Style(Template(_TOOL_LIST + _HERMES_INSTRUCTIONS), _tool_lines, _write_hermes),
        "json": Style(Template(_TOOL_LIST + _JSON_INSTRUCTIONS), _tool_lines, _write_json),
        "python": Style(Template(_TOOL_LIST + _PYTHON_INSTRUCTIONS), _tool_lines, calls_source),
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
_FORMATS: Mapping[str, tuple[str, _CallWriter]] = MappingProxyType(
    {
        "": (
            "[func_name1(params_name1=params_value1, params_name2=params_value2...), func_name2(params)]",
            calls_source,
        ),
        "_json": (
            '```json\n[{"function":"func_name1","parameters":{"param1":"value1","param2":"value2"...}},'
            '{"function":"func_name2","parameters":{"param":"value"}}]\n```',
            _write_bfcl_json,
        ),
        "_verbose_xml": (
            '<functions><function name="func_name1"><params><param name="param1" value="value1" type="type1"/>'
            '<param name="param2" value="value2" type="type2"/>...</params></function><function name="func_name2">'
            '<params><param name="param3" value="value3" type="type3"/></params></function></functions>',
            _write_verbose_xml,
        ),
        "_concise_xml": (
            '<functions><function name="func_name1"><param name="param1" type="type1">value1</param>'
            '<param name="param2" type="type2">value2</param>...</function><function name="func_name2">'
            '<param name="param3" type="type3">value</param></function></functions>',
            _write_concise_xml,
        ),
    }
)
_SYNTAX: Mapping[str, str] = MappingProxyType({"Python": "Python 3", "Java": "Java 8", "JavaScript": "JavaScript"})


def _style(name: str, *, tags: bool = False, language: str = "Python") -> Style:
    form, write = _FORMATS[name]
    if tags:
        form, write = f"<TOOLCALL>{form}</TOOLCALL>", _in_tags(write)
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


_BFCL_STYLES: Final[Mapping[str, Style]] = MappingProxyType(
    {f"bfcl{name}": _style(name) for name in _FORMATS}
    | {f"bfcl{name}_tagged": _style(name, tags=True) for name in _FORMATS}
    | {f"bfcl_{language.lower()}": _style("", language=language) for language in ("Java", "JavaScript")}
)


STYLES: Final[Mapping[str, Style]] = MappingProxyType({**_OWN_STYLES, **_BFCL_STYLES})
"""By the names of the decoders that read the answers."""

DEFAULT_STYLE: Final = "hermes"
"""Its tags separate calls from prose in any answer, and many models were trained on them."""


def with_tools_in_prompt(request: Request, style: str = DEFAULT_STYLE) -> list[Message]:
    """The messages of `request` with its tools described in the system prompt, above the case's own system prompt.

    Earlier calls are written in the style's format, and their results become messages of the user. Raises ValueError
    for an unknown style.
    """
    if style not in STYLES:
        raise ValueError(f"no prompt for the decoder {style!r:.60}; available: {', '.join(STYLES)}")
    chosen = STYLES[style]
    messages = list(_as_text_messages(request.messages, chosen))
    if not request.tools:
        return messages
    return _with_system(messages, chosen.instructions.substitute(tools=chosen.tools_as_text(request.tools)))


def _with_system(messages: list[Message], instructions: str) -> list[Message]:
    if not messages or messages[0].get("role") not in ("system", "developer"):
        return [{"role": "system", "content": instructions}, *messages]
    own = messages[0].get("content")
    content: Json = (
        f"{instructions}\n\n{own}" if isinstance(own, str) else [{"type": "text", "text": instructions}, *_parts(own)]
    )
    return [{**messages[0], "content": content}, *messages[1:]]


def _as_text_messages(messages: Sequence[Message], style: Style) -> Iterator[Message]:
    """The messages without native calls; consecutive results become one message."""
    names: dict[str, str] = {}
    results: list[Json] = []
    for message in messages:
        if message.get("role") in ("tool", "function"):
            name = message.get("name") or names.get(str(message.get("tool_call_id")))
            results.append({"name": name, "content": message.get("content")})
            continue
        if results:
            yield _results_message(results)
            results = []
        yield _without_native_calls(message, style, names)
    if results:
        yield _results_message(results)


def _results_message(results: Sequence[Json]) -> Message:
    lines = "\n".join(json.dumps(result, ensure_ascii=False) for result in results)
    return {"role": "user", "content": f"<tool_response>\n{lines}\n</tool_response>"}


def _without_native_calls(message: Message, style: Style, names: dict[str, str]) -> Message:
    native = message.get("tool_calls") or ([{"function": call}] if (call := message.get("function_call")) else None)
    if not isinstance(native, list | tuple):
        return message
    calls = [_call(item) for item in native if isinstance(item, Mapping)]
    names.update({call.id: call.name for call in calls if call.id is not None})
    rest = {key: value for key, value in message.items() if key not in ("tool_calls", "function_call", "content")}
    text = style.calls_as_text(calls)
    content = message.get("content")
    if isinstance(content, str) and content:
        return {**rest, "content": f"{content}\n{text}"}
    return {**rest, "content": [*_parts(content), {"type": "text", "text": text}] if content else text}


def _parts(content: Json) -> Sequence[Json]:
    return content if isinstance(content, list | tuple) else ()


def _call(item: Mapping[str, Json]) -> Call:
    function, id_ = item.get("function"), item.get("id")
    call = function if isinstance(function, Mapping) else item
    return Call(str(call.get("name")), _arguments(call.get("arguments")), id_ if isinstance(id_, str) else None)


def _arguments(arguments: Json) -> Mapping[str, Json]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return {}
    return arguments if isinstance(arguments, Mapping) else {}
