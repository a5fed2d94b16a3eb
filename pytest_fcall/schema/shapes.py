"""Tools as data, in every shape that providers and benchmarks write; told apart by what is in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fcall.core import Json, Tool
from pytest_fcall.schema.dialect import normalise
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.words import nearest, with_type

_PARAMETERS = (
    "parameters",  # OpenAI, Gemini, BFCL
    "input_schema",  # Anthropic
    "inputSchema",  # MCP
    "parametersJsonSchema",  # Gemini, plain JSON Schema
    "parameters_json_schema",
)
_OTHERS = frozenset(
    {"name", "description", "type", "strict"}
    | {"title", "annotations", "outputSchema", "icons", "execution", "_meta"}  # MCP
    | {"cache_control", "defer_loading", "allowed_callers", "input_examples", "eager_input_streaming"}  # Anthropic
    | {"response", "responseJsonSchema", "response_json_schema", "behavior"}  # Gemini
)
"""What providers write beside the schema. Nothing here depends on it."""

_DECLARATIONS = ("functionDeclarations", "function_declarations")
_LISTS = ("tools", *_DECLARATIONS, "functions", "function")


def tool_from_data(data: Json, *, source: str = "") -> Tool:
    """Read one tool: OpenAI (Chat Completions or Responses), Anthropic, MCP, Gemini, BFCL, or name and parameters."""
    if not isinstance(data, Mapping):
        raise SchemaError(f"a tool must be a mapping with a name, a description and parameters, not {with_type(data)}")
    inner = data.get("function")
    if isinstance(inner, Mapping) and "name" not in data:
        return _under(("function",), inner, source)
    for key in _DECLARATIONS:
        if isinstance(declared := data.get(key), Sequence) and len(declared) == 1:
            return _under((key, 0), declared[0], source)
    return _tool(data, source)


def tools_from_data(data: Json, *, source: str = "") -> list[Tool]:
    """Read a whole file of tools: a list, an object that holds one (`tools`, `functionDeclarations` …), or one tool."""
    if isinstance(data, Sequence) and not isinstance(data, str):
        return _all((), data, source)
    if isinstance(data, Mapping):
        if isinstance(answer := data.get("result"), Mapping) and "tools" in answer:  # JSON-RPC, as MCP servers send it
            return _all(("result", "tools"), answer["tools"], source)
        for key in _LISTS:
            if key in data and not isinstance(data[key], Mapping):
                return _all((key,), data[key], source)
    return [tool_from_data(data, source=source)]


def _all(path: tuple[str | int, ...], items: Json, source: str) -> list[Tool]:
    if not isinstance(items, Sequence) or isinstance(items, str):
        raise SchemaError(f"tools must be a list, not {with_type(items)}", path)
    tools: list[Tool] = []
    for index, item in enumerate(items):
        try:
            tools += [tool_from_data(item, source=source)] if _is_one(item) else tools_from_data(item, source=source)
        except SchemaError as error:
            raise error.below(*path, index) from None
    return tools


def _is_one(item: Json) -> bool:
    """Whether a member of a list is a tool; Gemini's lists hold lists of declarations."""
    return not (isinstance(item, Mapping) and any(key in item for key in _DECLARATIONS))


def _under(path: tuple[str | int, ...], data: Json, source: str) -> Tool:
    try:
        return tool_from_data(data, source=source)
    except SchemaError as error:
        raise error.below(*path) from None


def _tool(data: Mapping[str, Json], source: str) -> Tool:
    name = _name(data)
    _refuse_misspelt(data)
    key = _parameters_key(data)
    description = data.get("description")
    if description is not None and not isinstance(description, str):
        raise SchemaError(
            f"the description of `{name}` must be a string, not {with_type(description)}", ("description",)
        )
    parameters = normalise(data.get(key), (key,)) if key else normalise(None)
    return Tool(name, description or "", parameters, source)


def _name(data: Mapping[str, Json]) -> str:
    name = data.get("name")
    if isinstance(name, str) and name.strip() == name and name.isprintable() and name:
        return name
    if name is not None:
        raise SchemaError(f"a tool's name must be a printable string, not {with_type(name)}", ("name",))
    if isinstance(kind := data.get("type"), str) and kind not in {"function", "custom", "object"}:
        raise SchemaError(
            f"`{kind}` is a tool that the provider runs itself; it has no parameters to test",
            ("type",),
            hint="leave it out of the case file",
        )
    if "properties" in data:
        raise SchemaError("this is a JSON Schema, not a tool", hint="write {name: …, parameters: <the schema>}")
    near = next((key for key in data if nearest(key, ("name",))), None)
    raise SchemaError("the tool has no name", hint=f"did you mean `name` by `{near}`?" if near else "add `name: …`")


def _parameters_key(data: Mapping[str, Json]) -> str | None:
    given = [key for key in _PARAMETERS if data.get(key) is not None]
    if len(given) > 1:
        raise SchemaError(
            f"the tool has both `{given[0]}` and `{given[1]}`", (given[1],), hint="keep one schema of its parameters"
        )
    if given:
        return given[0]
    kind = data.get("type")
    if isinstance(kind, str) and kind not in {"function", "custom"}:
        raise SchemaError(f"`{kind}` is a tool that the provider runs itself; it has no parameters to test", ("type",))
    stray = next((key for key in data if key not in _OTHERS and isinstance(data[key], Mapping)), None)
    if stray is not None:
        raise SchemaError(
            f"unknown key `{stray}`", (stray,), hint="the schema of the arguments stands under `parameters`"
        )
    return None


def _refuse_misspelt(data: Mapping[str, Json]) -> None:
    """Keys that providers add are let be, slips of the pen are not."""
    known = {*_PARAMETERS, *_OTHERS}
    for key in data:
        if key not in known and (near := nearest(key, ("name", "description", *_PARAMETERS), cutoff=0.8)):
            raise SchemaError(f"unknown key `{key}`", (key,), hint=f"did you mean `{near}`?")
