"""Calls written as text, in each format that a prompt may ask for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import TypeAlias

from pytest_fcall.core import Call, Json, Tool

CallWriter: TypeAlias = Callable[[Sequence[Call]], str]

_XML_TYPES: Mapping[type, str] = {bool: "boolean", int: "integer", float: "float", str: "string", type(None): "null"}


@dataclass(frozen=True, slots=True)
class Style:
    """The instructions of a prompt, the form of the tools in it, and the form of the calls in the answer."""

    instructions: Template
    """Takes `$tools`."""
    tools_as_text: Callable[[Sequence[Tool]], str]
    calls_as_text: CallWriter
    """Writes the earlier calls of a conversation in the form that the instructions ask for."""


def write_hermes(calls: Sequence[Call]) -> str:
    """One JSON object between `<tool_call>` tags for each call."""
    return "\n".join(f"<tool_call>\n{_json(_named(call))}\n</tool_call>" for call in calls)


def write_json(calls: Sequence[Call]) -> str:
    """A JSON list of calls."""
    return _json([_named(call) for call in calls])


def write_python(calls: Sequence[Call]) -> str:
    """A list of calls in Python."""
    return f"[{', '.join(_python_call(call) for call in calls)}]"


def write_bfcl_json(calls: Sequence[Call]) -> str:
    """A JSON list in a code fence, with the leaderboard's keys."""
    data: list[Json] = [{"function": call.name, "parameters": call.arguments} for call in calls]
    return f"```json\n{_json(data)}\n```"


def write_verbose_xml(calls: Sequence[Call]) -> str:
    """XML with the values in attributes."""
    from xml.sax.saxutils import quoteattr

    def parameter(name: str, type_: str, value: str) -> str:
        return f"<param {name} value={quoteattr(value)} {type_}/>"

    return _xml(calls, "<params>", "</params>", parameter)


def write_concise_xml(calls: Sequence[Call]) -> str:
    """XML with the values as text."""
    from xml.sax.saxutils import escape

    def parameter(name: str, type_: str, value: str) -> str:
        return f"<param {name} {type_}>{escape(value)}</param>"

    return _xml(calls, "", "", parameter)


def in_tags(write: CallWriter) -> CallWriter:
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


def _python_call(call: Call) -> str:
    return f"{call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
