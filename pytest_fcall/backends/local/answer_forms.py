"""The answers that a grammar admits, by the decoder that reads them: data for xgrammar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from pytest_fcall.backends.local.form_parts import Form, json_schema, tag
from pytest_fcall.backends.local.token_forms import deepseek, harmony, kimi
from pytest_fcall.core import Json, Tool

_MOST_CALLS = 8
"""A model that goes on calling has lost its way."""


def _list(tools: Sequence[Tool], key: str = "arguments", least: int = 0) -> Mapping[str, Json]:
    """A JSON list of calls."""
    return json_schema(
        {
            "type": "array",
            "minItems": least,
            "maxItems": _MOST_CALLS,
            "items": {"anyOf": [_call(tool, number, key) for number, tool in enumerate(tools)]},
            "$defs": {str(number): _moved(tool.parameters, number) for number, tool in enumerate(tools)},
        }
    )


def _object(tool: Tool, key: str) -> Mapping[str, Json]:
    """A JSON object that is a call of `tool`."""
    return json_schema({**_call(tool, 0, key), "$defs": {"0": _moved(tool.parameters, 0)}})


def _call(tool: Tool, number: int, key: str) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": {"name": {"const": tool.name}, key: {"$ref": f"#/$defs/{number}"}},
        "required": ["name", key],
        "additionalProperties": False,
    }


def _moved(schema: Json, number: int) -> Json:
    """The schema with its references set right for standing among the definitions of a larger one."""
    if isinstance(schema, Mapping):
        return {
            key: f"#/$defs/{number}{value[1:]}"
            if key == "$ref" and isinstance(value, str) and value.startswith("#")
            else _moved(value, number)
            for key, value in schema.items()
        }
    return [_moved(item, number) for item in schema] if isinstance(schema, list | tuple) else schema


def _bare(tools: Sequence[Tool]) -> Mapping[str, Json]:
    return _list(tools)


def _marked(begin: str, end: str) -> Form:
    """Each call between marks, anywhere in a text."""

    def form(tools: Sequence[Tool]) -> Mapping[str, Json]:
        return {
            "type": "triggered_tags",
            "triggers": [begin.rstrip()],
            "tags": [tag(begin, {"type": "or", "elements": [_object(tool, "arguments") for tool in tools]}, end)],
        }

    return form


def _after(mark: str, key: str = "arguments") -> Form:
    """A list of calls after a mark, at the end of a text."""

    def form(tools: Sequence[Tool]) -> Mapping[str, Json]:
        return {
            "type": "triggered_tags",
            "triggers": [mark],
            "tags": [tag(mark, _list(tools, key, 1), "")],
            "stop_after_first": True,
        }

    return form


def _llama(tools: Sequence[Tool]) -> Mapping[str, Json]:
    calls: Json = {
        "type": "tags_with_separator",
        "tags": [tag("", _object(tool, "parameters"), "") for tool in tools],
        "separator": "; ",
        "at_least_one": True,
    }
    return {"type": "or", "elements": [calls, {"type": "any_text", "excludes": ['{"name"', "<|python_tag|>"]}]}


FORMS: Final[Mapping[str, Form]] = MappingProxyType(
    {
        "json": _bare,
        "auto": _bare,
        "xlam": _bare,
        "hermes": _marked("<tool_call>\n", "\n</tool_call>"),
        "llama": _llama,
        "mistral": _after("[TOOL_CALLS]"),
        "granite": _after("<|tool_call|>"),
        "phi": _after("functools"),
        "deepseek": deepseek,
        "kimi": kimi,
        "harmony": harmony,
    }
)
