"""Messages, tools and settings of a request in the form of any provider, converted to ours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from sys import intern
from types import MappingProxyType
from typing import Final

from pytest_fcall.cases.option_values import KNOWN_SETTINGS
from pytest_fcall.core.request import Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.tool_data import tools_from_data
from pytest_fcall.traces.record import UnusableRecord
from pytest_fcall.traces.values import first_field, first_text, items, mapping, parse_json_text, text

_ROLES: Final = MappingProxyType(
    {
        **{name: name for name in ("system", "developer", "user", "assistant", "tool")},
        **dict.fromkeys(("human", "HumanMessage", "HumanMessageChunk"), "user"),
        **dict.fromkeys(("ai", "model", "AIMessage", "AIMessageChunk"), "assistant"),
        **dict.fromkeys(("function", "ToolMessage", "FunctionMessage", "function_call_output"), "tool"),
        **dict.fromkeys(("SystemMessage", "SystemMessageChunk"), "system"),
        "function_call": "assistant",
    }
)
_TEXTS = frozenset({"text", "input_text", "output_text", "refusal"})
_CALLS = frozenset({"tool_use", "tool_call", "tool-call", "function_call", "functionCall"})
_RESULTS = frozenset({"tool_result", "tool-result", "tool_call_response", "function_call_output", "functionResponse"})
_CALL_ID_FIELDS = ("tool_call_id", "tool_use_id", "call_id", "toolCallId", "id", "name")
_SCHEMAS = ("parameters", "input_schema", "inputSchema")
_TOOL_FIELDS = ("name", "description", *_SCHEMAS)
_IGNORED_PARTS = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content", "item_reference"})


def is_instruction(message: Message) -> bool:
    """Whether it is a system message, by whichever name."""
    return message["role"] in ("system", "developer")


def messages_of(data: Json) -> tuple[Message, ...]:
    """The messages of a list, or of one message. Raises UnusableRecord for what a case cannot hold."""
    messages: list[Message] = []
    for item in items(parse_json_text(data)):
        for message in _messages(item):
            # Responses sends the text and the calls of one answer as separate items.
            if messages and messages[-1]["role"] == message["role"] == "assistant":
                messages[-1] = _joined_answers(messages[-1], message)
            else:
                messages.append(message)
    return tuple(messages)


def answer_messages(data: Json) -> tuple[Message, ...]:
    """The messages of an answer, whose items need not name their role. Raises UnusableRecord as `messages_of` does."""
    return messages_of([_answer_item(item) for item in items(parse_json_text(data))])


def _answer_item(item: Json) -> Json:
    """The item as a message of the model. A part that stands alone becomes its content, so that it is known or told."""
    if isinstance(item, str):
        return {"role": "assistant", "content": item}
    data = mapping(item)
    if "role" not in data and data.get("content") is None and (text(data.get("type")) or "") not in ("", *_ROLES):
        return {"role": "assistant", "content": [data]}
    return {"role": "assistant", **data}


def system_message(content: Json) -> tuple[Message, ...]:
    """A system message with this content; nothing where it is empty."""
    return messages_of({"role": "system", "content": content}) if content else ()


def _messages(item: Json) -> Iterator[Message]:
    if isinstance(item, str):
        yield {"role": "user", "content": item}
    elif isinstance(item, list):  # LangChain sends batches
        for inner in item:
            yield from _messages(inner)
    else:
        data = _unwrapped(mapping(item))
        if text(data.get("type")) not in _IGNORED_PARTS:
            yield from _role_messages(data, _role(data))


def _unwrapped(data: Mapping[str, Json]) -> Mapping[str, Json]:
    """The message inside a wrapper, with the role that the wrapper names."""
    if isinstance(data.get("kwargs"), Mapping):  # LangChain's serialised objects name their class
        name = next(reversed([text(each) or "" for each in items(data.get("id"))]), "")
        return {**mapping(data["kwargs"]), "role": _ROLES.get(name, name)}
    for key in ("message", "data"):
        if isinstance(data.get(key), Mapping) and "content" not in data:
            return {**{key: data[key] for key in ("role", "type") if key in data}, **mapping(data[key])}
    return data


def _role(data: Mapping[str, Json]) -> str:
    name = text(data.get("role")) or text(data.get("type")) or ""
    if name in _ROLES:
        return _ROLES[name]
    raise UnusableRecord(f"a message has an unknown role: {name[:40]!r}" if name else "a message has no role")


def _role_messages(data: Mapping[str, Json], role: str) -> Iterator[Message]:
    """The message. Results of tools inside it come first, each as a message of its own."""
    is_part = data.get("content") is None and text(data.get("type")) in _CALLS | _RESULTS
    parts = [_typed_part(part) for part in ([data] if is_part else _parts(data))]
    yield from (_result(part) for kind, part in parts if kind in _RESULTS)
    content = [_content_part(kind, part) for kind, part in parts if kind not in _CALLS | _RESULTS | _IGNORED_PARTS]
    if role == "assistant":
        calls = [_call(part) for kind, part in parts if kind in _CALLS]
        yield _answer(content, calls or _calls_beside(data))
    elif role == "tool":
        if not any(kind in _RESULTS for kind, _ in parts):
            yield _result(data)
    elif content:
        yield {"role": role, "content": _plain_content(content)}


def _calls_beside(data: Mapping[str, Json]) -> list[Json]:
    """The calls beside the content. LangChain keeps those of the provider in `additional_kwargs`."""
    for fields in (data, mapping(data.get("additional_kwargs"))):
        if calls := items(first_field(fields, "tool_calls", "function_call")):
            return [_call(mapping(each)) for each in calls]
    return []


def _parts(data: Mapping[str, Json]) -> list[Json]:
    content = first_field(data, "content", "parts", "refusal")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(items(content))


def _typed_part(part: Json) -> tuple[str, Mapping[str, Json]]:
    """A part of a message, with its type."""
    if isinstance(part, str):
        return "text", {"text": part}
    data = mapping(part)
    for name in ("functionCall", "functionResponse"):  # Gemini names the type by the key
        if name in data:
            return name, mapping(data[name])
    return text(data.get("type")) or ("text" if "text" in data else "part"), data


def _content_part(kind: str, part: Mapping[str, Json]) -> Json:
    """A part of a message that is text or an image. Raises UnusableRecord for others."""
    if kind in _TEXTS:
        return {"type": "text", "text": first_text(part, "text", "content", "refusal")}
    source = mapping(part.get("source"))
    if kind == "image_url":
        return {"type": "image_url", "image_url": part.get("image_url")}
    if kind == "input_image" and isinstance(part.get("image_url"), str):
        return {"type": "image_url", "image_url": {"url": part["image_url"]}}
    if kind == "image" and source.get("type") == "base64":
        url = f"data:{source.get('media_type')};base64,{source.get('data')}"
        return {"type": "image_url", "image_url": {"url": url}}
    raise UnusableRecord(f"a message has a part of type {kind[:40]!r}, which case files do not support")


def _call(part: Mapping[str, Json]) -> Json:
    """A call in OpenAI's form. Arguments that are a string stay unchanged, valid JSON or not."""
    part = mapping(part.get("tool_call")) or part
    inner = mapping(part.get("function")) or part
    values = (inner[key] for key in ("arguments", "args", "input", "parameters") if inner.get(key) is not None)
    arguments = next(values, {})
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    name = first_text(inner, "name", "toolName") or text(part.get("function")) or ""
    return {
        "id": first_text(part, "call_id", "id", "tool_call_id", "toolCallId"),
        "type": "function",
        "function": {"name": name, "arguments": written},
    }


def _result(part: Mapping[str, Json]) -> Message:
    values = (part[key] for key in ("content", "output", "response", "result") if part.get(key) is not None)
    result = {
        "role": "tool",
        "tool_call_id": first_text(part, *_CALL_ID_FIELDS),
        "content": _result_text(next(values, "")),
    }
    return {**result, "is_error": True} if _is_error(part) else result


def _is_error(result: Mapping[str, Json]) -> bool:
    """Whether a result says that its call failed: Anthropic's and MCP's mark, LangChain's status, the AI SDK's type."""
    kind = text(mapping(result.get("output")).get("type")) or ""
    marked = result.get("is_error") is True or result.get("isError") is True
    return marked or result.get("status") == "error" or kind in ("error-text", "error-json")


def _result_text(value: Json) -> str:
    """A result as the model gets it: parts of text joined, any other value as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and value.keys() == {"type", "value"}:  # Vercel's AI SDK
        return _result_text(value["value"])
    parts = [mapping(part) for part in value] if isinstance(value, list) else []
    if parts and all(text(part.get("type")) in _TEXTS and isinstance(part.get("text"), str) for part in parts):
        return "".join(str(part["text"]) for part in parts)
    return json.dumps(value, ensure_ascii=False)


def _answer(content: list[Json], calls: list[Json]) -> Message:
    written = "".join(str(mapping(part).get("text") or "") for part in content)
    if calls:
        return {"role": "assistant", "content": written or None, "tool_calls": calls}
    return {"role": "assistant", "content": written}


def _plain_content(content: list[Json]) -> Json:
    """The text of a content that is one part of text, as most providers take it; else the parts."""
    if len(content) == 1 and mapping(content[0]).get("type") == "text":
        return intern(str(mapping(content[0])["text"]))  # long system messages repeat in every request
    return content


def _joined_answers(earlier: Message, later: Message) -> Message:
    texts = [each["content"] for each in (earlier, later) if isinstance(each["content"], str)]
    calls = [*items(earlier.get("tool_calls")), *items(later.get("tool_calls"))]
    joined: dict[str, Json] = {"role": "assistant", "content": "".join(map(str, texts)) or None}
    return {**joined, "tool_calls": calls} if calls else joined


def tools_in(*places: Mapping[str, Json]) -> tuple[Tool, ...]:
    """The tools of a request, from the first of these mappings that has any."""
    return tools_of(next(filter(None, (first_field(data, "tools", "functions") for data in places)), None))


def tools_of(data: Json) -> tuple[Tool, ...]:
    """Tools in the form of any provider. Built-in tools of the provider are left out: no test can cover them.

    Raises UnusableRecord for a function whose schema cannot be read.
    """
    return _distinct_tools(data if isinstance(data, str) else json.dumps(data)) if data else ()


@lru_cache(maxsize=256)  # an app offers the same tools with every request
def _distinct_tools(written: str) -> tuple[Tool, ...]:
    tools: dict[str, Tool] = {}
    for each in items(parse_json_text(written)):
        for tool in _valid_tools(parse_json_text(each)):
            tools.setdefault(tool.name, tool)
    return tuple(tools.values())


def _valid_tools(data: Json) -> Iterator[Tool]:
    if schema := mapping(data).get("json_schema"):  # OpenInference
        data = parse_json_text(schema)
    try:
        yield from tools_from_data(data)
    except (SchemaError, RecursionError):
        yield from _bare_tool(mapping(data))


def _bare_tool(data: Mapping[str, Json]) -> Iterator[Tool]:
    """The function without what clients add to it; nothing where it is a tool of the provider."""
    function = mapping(data.get("function")) or data
    named = {key: function[key] for key in _TOOL_FIELDS if function.get(key) is not None}
    if not any(isinstance(function.get(key), Mapping) for key in _SCHEMAS):
        return
    try:
        yield from tools_from_data(named)
    except (SchemaError, RecursionError) as problem:
        name = text(function.get("name")) or ""
        raise UnusableRecord(f"the tool {name[:60]!r} cannot be read: {str(problem).rstrip('.')[:200]}") from None


def settings_of(data: Mapping[str, Json]) -> dict[str, Json]:
    """The settings that affect an answer with every provider; the choice of a tool becomes its name."""
    settings = {name: data[name] for name in KNOWN_SETTINGS if data.get(name) is not None}
    if "tool_choice" in settings:
        choice = _tool_choice(settings.pop("tool_choice"))
        if choice is not None:
            settings["tool_choice"] = choice
    return settings


def _tool_choice(data: Json) -> Json:
    """The choice as case files write it. None for the default."""
    if isinstance(data, str):
        return None if data == "auto" else data
    choice = mapping(data)
    word = {"any": "required", "none": "none", "auto": None}.get(str(choice.get("type")), "")
    return (mapping(choice.get("function")).get("name") or choice.get("name")) if word == "" else word
