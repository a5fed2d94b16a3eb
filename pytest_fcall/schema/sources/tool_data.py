"""Tools from data: every provider's and benchmark's format, detected by its keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_fcall.core.message_text import nearest, suggestion, with_type
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json
from pytest_fcall.schema.dialect import normalise
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.traversal import Path

_PARAMETERS = (
    "parameters",  # OpenAI, Gemini, BFCL
    "input_schema",  # Anthropic
    "inputSchema",  # MCP, and Bedrock inside `toolSpec`
    "parametersJsonSchema",  # Gemini, plain JSON Schema
    "parameters_json_schema",
)
_OTHERS = frozenset(
    {"name", "description", "type", "strict"}
    | {"title", "annotations", "outputSchema", "icons", "execution", "_meta"}  # MCP
    | {"cache_control", "defer_loading", "allowed_callers", "input_examples", "eager_input_streaming"}  # Anthropic
    | {"response", "responseJsonSchema", "response_json_schema", "behavior"}  # Gemini
)
"""Keys that providers add to a tool; they are ignored."""

_DECLARATIONS = ("functionDeclarations", "function_declarations")
_LISTS = ("tools", *_DECLARATIONS, "functions", "function")
_INNER = ("function", "toolSpec")
"""Keys of OpenAI and Bedrock with the tool itself inside."""


def tool_from_data(data: Json, *, source: str = "") -> Tool:
    """Read one tool: OpenAI (Chat Completions or Responses), Anthropic, MCP, Gemini, Bedrock, BFCL, or plain."""
    tools = tools_from_data(data, source=source)
    if len(tools) != 1:
        raise SchemaError(f"expected one tool, not {len(tools)}")
    return tools[0]


def tools_from_data(data: Json, *, source: str = "") -> list[Tool]:
    """Read the tools of a file: a list, an object with a list (`tools`, `functionDeclarations` …), or one tool."""
    return [_tool(item, path, source) for path, item in _members(data, levels=2)]


def _members(data: Json, levels: int) -> Iterator[tuple[Path, Json]]:
    """The members of a list of tools, each with its path. The lists of Gemini contain lists, hence two levels."""
    group = _group(data) if levels else None
    if group is None:
        yield (), data
        return
    path, items = group
    if not isinstance(items, list | tuple):
        raise SchemaError(f"tools must be a list, not {with_type(items)}", path)
    for index, item in enumerate(items):
        if isinstance(item, Mapping) and item.keys() == {"cachePoint"}:  # Bedrock marks in the list how far to cache
            continue
        yield from (((*path, index, *way), member) for way, member in _members(item, levels - 1))


def _group(data: Json) -> tuple[Path, Json] | None:
    if isinstance(data, list | tuple):
        return (), data
    if not isinstance(data, Mapping) or "name" in data:
        return None
    if isinstance(answer := data.get("result"), Mapping) and "tools" in answer:  # JSON-RPC, as MCP servers send it
        return ("result", "tools"), answer["tools"]
    if isinstance(config := data.get("toolConfig"), Mapping) and "tools" in config:  # a request of Bedrock's Converse
        return ("toolConfig", "tools"), config["tools"]
    key = next((key for key in _LISTS if key in data and not isinstance(data[key], Mapping)), None)
    return None if key is None else ((key,), data[key])


def _tool(data: Json, path: Path, source: str) -> Tool:
    if isinstance(data, Mapping) and "name" not in data:
        key = next((key for key in _INNER if isinstance(data.get(key), Mapping)), None)
        if key is not None:
            data, path = data[key], (*path, key)
    if not isinstance(data, Mapping):
        raise SchemaError(
            f"a tool must be a mapping with name, description and parameters, not {with_type(data)}", path
        )
    name = _name(data, path)
    _refuse_misspelt(data, path)
    key = _parameters_key(data, path)
    description = data.get("description")
    if description is not None and not isinstance(description, str):
        raise SchemaError(f"a description must be a string, not {with_type(description)}", (*path, "description"))
    declared, place = (data[key], (*path, key)) if key else (None, path)
    if key and path[-1:] == ("toolSpec",) and isinstance(declared, Mapping):
        declared, place = _bedrock_schema(declared, place), (*place, "json")
    parameters = normalise(declared, place)
    return Tool(name, description or "", parameters, source, declared if isinstance(declared, Mapping) else None)


def _bedrock_schema(data: Mapping[str, Json], path: Path) -> Json:
    """The schema in Bedrock's `inputSchema`, which has it under `json`."""
    if "json" not in data:
        raise SchemaError("Bedrock's `inputSchema` has no `json`", path, hint="write {json: the schema}")
    return data["json"]


def _name(data: Mapping[str, Json], path: Path) -> str:
    name = data.get("name")
    if isinstance(name, str) and name.strip() == name and name.isprintable() and name:
        return name
    if name is not None:
        raise SchemaError(f"a tool's name must be a printable string, not {with_type(name)}", (*path, "name"))
    _refuse_hosted(data, path)
    if "properties" in data:
        raise SchemaError("this is a JSON Schema, not a tool", path, hint="write {name: …, parameters: the schema}")
    near = next((key for key in data if nearest(key, ("name",))), None)
    raise SchemaError(
        "the tool has no name", path, hint=f"is `{near}` meant to be `name`?" if near else "add `name: …`"
    )


def _refuse_hosted(data: Mapping[str, Json], path: Path) -> None:
    if "systemTool" in data:  # Bedrock's
        raise SchemaError(
            "`systemTool` is a tool of the provider; it has no parameters to test",
            (*path, "systemTool"),
            hint="leave it out",
        )
    kind = data.get("type")
    if isinstance(kind, str) and kind not in {"function", "custom", "object"}:
        raise SchemaError(
            f"`{kind}` is a tool of the provider; it has no parameters to test",
            (*path, "type"),
            hint="leave it out",
        )


def _parameters_key(data: Mapping[str, Json], path: Path) -> str | None:
    given = [key for key in _PARAMETERS if data.get(key) is not None]
    if len(given) > 1:
        raise SchemaError(
            f"the tool has both `{given[0]}` and `{given[1]}`",
            (*path, given[1]),
            hint="keep one schema of its parameters",
        )
    if given:
        return given[0]
    _refuse_hosted(data, path)
    stray = next((key for key in data if key not in _OTHERS and isinstance(data[key], Mapping)), None)
    if stray is not None:
        raise SchemaError(
            f"unknown key `{stray}`", (*path, stray), hint="the schema of the arguments belongs into `parameters`"
        )
    return None


def _refuse_misspelt(data: Mapping[str, Json], path: Path) -> None:
    """Raise SchemaError for a misspelt key. Other unknown keys are allowed, since providers add some."""
    known = {*_PARAMETERS, *_OTHERS}
    for key in data:
        if key not in known and (near := nearest(key, ("name", "description", *_PARAMETERS), cutoff=0.8)):
            raise SchemaError(f"unknown key `{key}`", (*path, key), hint=suggestion(near))
