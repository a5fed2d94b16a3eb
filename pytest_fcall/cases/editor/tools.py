"""The JSON Schema of tools and tool sources in case files, for editors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from pytest_fcall.cases.editor.json_schema import (
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
        "as": string("A prefix for each name, with two underscores: `as: jira` makes `search` `jira__search`."),
        "only": one_or_many("Take only these tools of the source.", _GLOBS),
        "without": one_or_many("Take all tools of the source but these.", _GLOBS),
    }
)

_MCP: Mapping[str, Schema] = {
    "command": array("The command of a server on standard input and output.", {"type": "string"}),
    "url": string("The address of a server over HTTP."),
    "env": mapping("Environment variables of the server.", {"type": "string"}),
    "cwd": string("The working directory of the server, relative to the case file."),
    "headers": mapping("HTTP headers; `${NAME}` stands for an environment variable.", {"type": "string"}),
}

_FUNCTION: Mapping[str, Schema] = MappingProxyType(
    {
        "name": string("The name of the tool."),
        "description": string("The description of the tool for the model."),
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
        "annotations": mapping("Annotations of an MCP server."),
        "type": choice("The key of OpenAI's Responses API.", "function"),
    }
)

_BEDROCK: Mapping[str, Schema] = MappingProxyType(
    {
        "name": _FUNCTION["name"],
        "description": _FUNCTION["description"],
        "inputSchema": obj("The parameters.", {"json": _FUNCTION["parameters"]}, required=["json"]),
        "strict": _FUNCTION["strict"],
    }
)


def tool_definitions(sources: Iterable[str] = ()) -> dict[str, Schema]:
    """The definitions of a `tool` and of each tool source; `sources` are those of other packages."""
    own: dict[str, Schema] = {
        name: _source(f"Tools from the source `{name}`.", name, anything("The value for the source."))
        for name in sources
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
        "agent": _source(
            "Tools of an agent, read from the lock file that `fcall tools lock` writes.",
            "agent",
            string("`module:name` of the agent.", r"^[^:\s]+:[^:\s]+$"),
        ),
        "file": _source(
            "Tools from a JSON or YAML file in the format of OpenAI, Anthropic, MCP, Gemini, Bedrock or BFCL.",
            "file",
            string("The path, relative to the case file."),
        ),
        "openapi": _source(
            "Tools from an OpenAPI document, one for each operation.",
            "openapi",
            string(
                "The path of the document, relative to the case file; or its URL, which is read from the lock file."
            ),
            {"operations": array("Take only the operations with these `operationId`s.", {"type": "string"})},
        ),
        "mcp": _source(
            "Tools of an MCP server, read from the lock file that `fcall tools lock` writes.",
            "mcp",
            obj("The server.", _MCP) | {"oneOf": [{"required": ["command"]}, {"required": ["url"]}]},
        ),
        "inline": obj("A tool written out.", _INLINE, required=["name"]),
        "wrapped": obj(
            "A tool written out in OpenAI's format.",
            {
                "type": choice("The key of OpenAI's Chat Completions API.", "function"),
                "function": obj("The function.", _FUNCTION, required=["name"]),
            },
            required=["type", "function"],
        ),
        "bedrock": obj(
            "A tool written out in the format of Bedrock's Converse.",
            {"toolSpec": obj("The tool.", _BEDROCK, required=["name"])},
            required=["toolSpec"],
        ),
    }
    forms = known | own
    return {f"tools.{name}": schema for name, schema in forms.items()} | {
        "tool": either("A tool, or a source of tools.", *(ref(f"tools.{name}") for name in forms))
    }


def _source(description: str, key: str, value: Schema, more: Mapping[str, Schema] | None = None) -> Schema:
    return obj(description, {key: value, **(more or {}), **_PICK}, required=[key])
