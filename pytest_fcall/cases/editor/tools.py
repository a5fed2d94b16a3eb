"""The JSON Schema of an entry of `tools:`, one definition a source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from pytest_fcall.cases.editor.words import (
    Schema,
    anything,
    array,
    choice,
    either,
    flag,
    mapping,
    obj,
    one_or_many,
    ref,
    string,
)

_GLOBS = string("A tool name, or a glob such as `get_*`.")

_PICK: Mapping[str, Schema] = MappingProxyType(
    {
        "as": string("Puts this and two underscores before each name: `as: jira` makes `search` `jira__search`."),
        "only": one_or_many("Take only these tools of the source.", _GLOBS),
        "without": one_or_many("Take all tools of the source but these.", _GLOBS),
    }
)

_MCP: Mapping[str, Schema] = {
    "command": array("Starts a server that speaks over standard input and output.", {"type": "string"}),
    "url": string("The address of a server that speaks over HTTP."),
    "env": mapping("Environment variables of the server.", {"type": "string"}),
    "cwd": string("The folder in which the server starts, seen from the case file."),
    "headers": mapping("HTTP headers; `${NAME}` stands for an environment variable.", {"type": "string"}),
}

_FUNCTION: Mapping[str, Schema] = MappingProxyType(
    {
        "name": string("The tool's name, as the model sees it."),
        "description": string("What the tool does, as the model is told."),
        "parameters": mapping("JSON Schema of the arguments: `type: object`, `properties`, `required`."),
        "strict": flag("OpenAI's strict mode."),
    }
)

_INLINE: Mapping[str, Schema] = MappingProxyType(
    {
        **_FUNCTION,
        "input_schema": mapping("The parameters, as Anthropic names them."),
        "inputSchema": mapping("The parameters, as MCP names them."),
        "title": string("A name for people."),
        "annotations": mapping("What an MCP server says about the tool."),
        "type": choice("As OpenAI's Responses API writes it.", "function"),
    }
)


def tool_definitions(sources: Iterable[str] = ()) -> dict[str, Schema]:
    """Definitions of a `tool` and of each source it may come from; `sources` are those of other packages."""
    own: dict[str, Schema] = {
        name: _source(f"Tools from the source `{name}`.", name, anything("What the source reads.")) for name in sources
    }
    known = {
        "python": _source(
            "Tools from Python code: signature, type hints and docstring, or a Pydantic model.",
            "python",
            one_or_many(
                "`module:function`, `module:Class.method`, `module:Model`, or `module` for all its public functions.",
                {"type": "string"},
            ),
        ),
        "file": _source(
            "Tools from a JSON or YAML file in OpenAI's, Anthropic's, MCP's, Gemini's or BFCL's form, told apart.",
            "file",
            string("The file, seen from the case file."),
        ),
        "openapi": _source(
            "Tools from an OpenAPI document, one an operation.",
            "openapi",
            string("The document, seen from the case file; or its URL, which is read from the lock file."),
            {"operations": array("Take only the operations with these `operationId`s.", {"type": "string"})},
        ),
        "mcp": _source(
            "Tools of an MCP server, read from the lock file that `fcall tools lock` writes.",
            "mcp",
            obj("How to reach the server.", _MCP) | {"oneOf": [{"required": ["command"]}, {"required": ["url"]}]},
        ),
        "inline": obj("A tool written out.", _INLINE, required=["name"]),
        "wrapped": obj(
            "A tool written out in OpenAI's form.",
            {
                "type": choice("As OpenAI's Chat Completions API writes it.", "function"),
                "function": obj("The function.", _FUNCTION, required=["name"]),
            },
            required=["type", "function"],
        ),
    }
    forms = known | own
    return {f"tools.{name}": schema for name, schema in forms.items()} | {
        "tool": either("A tool, or a source of tools.", *(ref(f"tools.{name}") for name in forms))
    }


def _source(description: str, key: str, value: Schema, more: Mapping[str, Schema] | None = None) -> Schema:
    return obj(description, {key: value, **(more or {}), **_PICK}, required=[key])
