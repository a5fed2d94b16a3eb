"""LangGraph's compiled graphs and LangChain's runnables: `ainvoke`, with messages in OpenAI's form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

from pytest_fcall.backends.apps.agents.messages import read_history, with_content
from pytest_fcall.core.app import AppRequest
from pytest_fcall.schema.errors import SchemaError


def call(agent: Any, request: AppRequest) -> object:
    """Run the graph, in a thread of conversation of its own, or the runnable."""
    read_history(request, "LangChain")  # refuses what LangChain would refuse otherwise, or pass over
    given = _input(agent, request)
    config = {"configurable": {"thread_id": uuid4().hex}} if getattr(agent, "checkpointer", None) else None
    if _is_synchronous(agent):
        return agent.invoke(given, config)
    return agent.ainvoke(given, config)


def tools(agent: Any) -> list[object]:
    """The tools of the graph's tool nodes and of models that tools were bound to."""
    found: dict[str, object] = {}
    for name, tool in _tools_of(agent, set()):
        found.setdefault(name, tool)
    return [*found.values()]


def _input(agent: Any, request: AppRequest) -> object:
    messages = with_content(request)
    if _is_model(agent):
        return messages
    names = _input_names(agent)
    if names is None or "messages" in names:
        return {"messages": messages}
    history = read_history(request, "LangChain")
    if len(names) == 1:
        return {names[0]: history.text_alone()}
    raise history.unfit(f"its input is not `messages` but {', '.join(map(repr, names))}")


def _is_model(agent: Any) -> bool:
    """Whether messages are its whole input: a chat model, with or without what was bound to it."""
    while hasattr(agent, "bound"):
        agent = agent.bound
    return any(kind.__name__ == "BaseLanguageModel" for kind in type(agent).__mro__)


def _input_names(agent: Any) -> list[str] | None:
    """The names of what it takes; None where it does not say, as a function does."""
    if (builder := getattr(agent, "builder", None)) is not None:
        return [*builder.schemas[builder.input_schema]]
    try:
        schema: Mapping[str, Any] = agent.get_input_jsonschema()
    except Exception:  # functions have annotations that no schema can be made of
        return None
    properties = schema.get("properties")
    if properties is None and isinstance(reference := schema.get("$ref"), str):
        properties = schema.get("$defs", {}).get(reference.rpartition("/")[2], {}).get("properties")
    return [*properties] if properties else None


def _is_synchronous(agent: Any) -> bool:
    """Whether its checkpointer refuses to be awaited, as those do that have a sibling for programs with `async`."""
    return type(getattr(agent, "checkpointer", None)).__name__ in ("PostgresSaver", "SqliteSaver")


def _tools_of(part: Any, seen: set[int]) -> Iterator[tuple[str, object]]:
    """The tools in a part of a chain or graph, with their names."""
    if part is None or id(part) in seen:
        return
    seen.add(id(part))
    for name, tool in (getattr(part, "tools_by_name", None) or {}).items():
        yield name, _tool_data(tool)
    for tool in _bound_tools(part):
        yield _name_of(tool), tool
    nodes = getattr(part, "nodes", None)
    for inner in (
        *(nodes.values() if isinstance(nodes, Mapping) else ()),
        getattr(part, "bound", None),
        *(getattr(part, "steps", None) or ()),
        *(getattr(part, "subgraphs", None) or ()),
    ):
        yield from _tools_of(inner, seen)


def _bound_tools(part: Any) -> Iterator[Any]:
    kwargs = getattr(part, "kwargs", None)
    bound = kwargs.get("tools") if isinstance(kwargs, Mapping) else None
    yield from bound if isinstance(bound, list | tuple) else ()


def _name_of(tool: Any) -> str:
    match tool:
        case {"function": {"name": str(name)}} | {"name": str(name)}:
            return name
    raise SchemaError(f"a tool that is bound to a model is a {type(tool).__name__} without a name")


def _tool_data(tool: Any) -> dict[str, Any]:
    schema = tool.tool_call_schema
    parameters = schema if isinstance(schema, Mapping) else schema.model_json_schema()
    parameters = {name: value for name, value in parameters.items() if name not in ("title", "description")}
    return {"name": tool.name, "description": tool.description, "parameters": parameters}
