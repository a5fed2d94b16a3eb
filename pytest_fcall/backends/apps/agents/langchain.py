"""LangGraph's graphs and LangChain's runnables: `ainvoke`, with messages in OpenAI's form; messages, also as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from pytest_fcall.backends.apps.agents.messages import read_history, with_content
from pytest_fcall.backends.apps.answers.errors import inside, not_understood
from pytest_fcall.backends.apps.answers.message import AnswerMessage, AppAnswer, call_list, result_of
from pytest_fcall.backends.apps.answers.parts import content_of
from pytest_fcall.backends.apps.answers.values import (
    Fields,
    check_ignored,
    field,
    fields_of,
    join_texts,
    kind_of,
    names,
    required_fields,
)
from pytest_fcall.backends.openai.answer_fields import count, engine, finish
from pytest_fcall.core.reply import RawCall, Usage
from pytest_fcall.core.request import AppRequest
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


_ROLES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("ai", "AIMessageChunk"), "assistant"),
        **dict.fromkeys(("human", "HumanMessageChunk"), "user"),
        **dict.fromkeys(("system", "SystemMessageChunk"), "system"),
        **dict.fromkeys(("tool", "ToolMessageChunk"), "tool"),
        **dict.fromkeys(("function", "FunctionMessageChunk"), "function"),
        **dict.fromkeys(("chat", "ChatMessageChunk"), "chat"),
        "remove": "remove",
    }
)
MESSAGE_TYPES = frozenset({*_ROLES, "constructor"})
_READ = frozenset({"content", "tool_calls", "invalid_tool_calls", "tool_call_chunks", "additional_kwargs"})
_HARMLESS = frozenset({"response_metadata", "artifact", "example"})
_RAW_CALLS = ("tool_calls", "function_call")


def read_message(data: Fields, place: str = "") -> AppAnswer:
    """The meaning of a message. Messages may be wrapped, by what writes them as JSON."""
    if data.get("lc") is not None:
        return _wrapped(data.get("id"), data.get("kwargs"), place)
    if "content" not in data and fields_of(data.get("data")) is not None:
        held = required_fields(data["data"], inside(place, "data"), "the fields of a message")
        return read_message({"type": data.get("type"), **held}, place)
    kind = data.get("type")
    role = _ROLES.get(kind) if isinstance(kind, str) else None
    if role == "chat":
        role = {"human": "user", "ai": "assistant"}.get(str(data.get("role")), str(data.get("role")))
    if role == "remove":
        check_ignored(data, _HARMLESS, place)
        return AppAnswer([])
    if role in ("tool", "function"):
        return AppAnswer([result_of(field(data, "tool_call_id", "name"), join_texts(data.get("content")))])
    if role not in ("assistant", "user", "system", "developer"):
        raise not_understood(place, kind_of(data), f"messages of the types {names(_ROLES)}")
    check_ignored(data, _READ | _HARMLESS, place)
    content = content_of(data.get("content"), inside(place, "content"))
    calls = _calls(data, content.calls, place)
    if calls and role != "assistant":
        raise not_understood(place, f"a message of the {role} that holds calls", "calls of the AI's messages")
    about = fields_of(data.get("response_metadata")) or {}
    reason = field(about, "finish_reason", "stop_reason")
    message = AnswerMessage(role, content.text, tuple(calls), refusal=content.refusal)
    if role == "assistant":
        message.usage = _usage(fields_of(data.get("usage_metadata")))
        model = field(about, "model_name", "model")
        message.engine = engine({"model": model} if isinstance(model, str) else {})
        message.finish = finish(reason) if isinstance(reason, str) else None
    return AppAnswer([message, *content.results])


def _wrapped(path: Any, kwargs: Any, place: str) -> AppAnswer:
    """A message as `dumpd` writes it: the path of its class, and what the class is called with."""
    name = path[-1] if isinstance(path, list) and path else ""
    kinds = {"AIMessage": "ai", "HumanMessage": "human", "SystemMessage": "system", "ToolMessage": "tool"}
    kind = kinds.get(str(name).removesuffix("Chunk"))
    held = fields_of(kwargs)
    if kind is None or held is None:
        raise not_understood(place, f"an object of the class {str(name)[:80]!r}", f"the classes {names(kinds)}")
    return read_message({**held, "type": kind}, place)


def _calls(data: Fields, in_content: list[RawCall], place: str) -> list[RawCall]:
    """The calls of a message, which it holds up to three times: as they are, as its provider wrote them, as parts."""
    calls = [*call_list(data.get("tool_calls"), inside(place, "tool_calls"))]
    invalid = call_list(data.get("invalid_tool_calls"), inside(place, "invalid_tool_calls"))
    calls += [RawCall(call.name, _as_text(call.arguments), call.id) for call in invalid]
    if calls:
        known = {call.id for call in calls} | {None}
        return calls + [call for call in in_content if call.id not in known]
    if in_content:
        return in_content
    more = fields_of(data.get("additional_kwargs")) or {}
    calls = [*call_list(more.get("tool_calls"), inside(place, "additional_kwargs.tool_calls"))]
    if (legacy := more.get("function_call")) is not None:
        calls += call_list([legacy], inside(place, "additional_kwargs.function_call"))
    check_ignored(more, _RAW_CALLS, inside(place, "additional_kwargs"))
    return calls


def _as_text(arguments: Any) -> Any:
    """Arguments that the library could not read stay unreadable."""
    return "" if arguments is None else arguments


def _usage(data: Fields | None) -> Usage | None:
    if not data:
        return None
    read = fields_of(data.get("input_token_details")) or {}
    return Usage(
        count(data.get("input_tokens")), count(data.get("output_tokens")), cached_tokens=count(read.get("cache_read"))
    )
