"""Messages, tools and settings of a request in any provider's form, converted to ours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from sys import intern
from types import MappingProxyType
from typing import Final

from pytest_fcall.cases.option_values import KNOWN_SETTINGS
from pytest_fcall.core import Json, Message, Tool
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.tool_data import tools_from_data
from pytest_fcall.traces.record import UnusableRecord
from pytest_fcall.traces.values import first, items, mapping, parsed, text

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
_IGNORED_PARTS = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content", "item_reference"})


def messages_of(told: Json) -> tuple[Message, ...]:
    """Read a list of messages, or one. NotSaid where something in it cannot be said in a case."""
    found: list[Message] = []
    for item in items(parsed(told)):
        for message in _messages(item):
            if found and _continues(found[-1], message):
                found[-1] = _joined_answers(found[-1], message)
            else:
                found.append(message)
    return tuple(found)


def _messages(item: Json) -> Iterator[Message]:
    if isinstance(item, str):
        yield {"role": "user", "content": item}
        return
    if isinstance(item, list):  # LangChain sends batches
        for inner in item:
            yield from _messages(inner)
        return
    told = _unwrapped(mapping(item))
    if text(told.get("type")) in _IGNORED_PARTS:
        return
    yield from _role_messages(told, _role(told))


def _unwrapped(told: Mapping[str, Json]) -> Mapping[str, Json]:
    """The message itself, with the role that stands around it."""
    around = {key: told[key] for key in ("role", "type") if key in told}
    if isinstance(told.get("kwargs"), Mapping):  # LangChain's serialised objects name their class
        name = next(reversed([text(each) or "" for each in items(told.get("id"))]), "")
        return {**mapping(told["kwargs"]), "role": _ROLES.get(name, name)}
    for key in ("message", "data"):
        if isinstance(told.get(key), Mapping) and "content" not in told:
            return {**around, **mapping(told[key])}
    return told


def _role(told: Mapping[str, Json]) -> str:
    name = text(told.get("role")) or text(told.get("type")) or ""
    if name in _ROLES:
        return _ROLES[name]
    raise UnusableRecord(
        f"a message in it is of nobody known: {name[:40]!r}" if name else "a message in it has no role"
    )


def _role_messages(told: Mapping[str, Json], role: str) -> Iterator[Message]:
    """The message; results of tools that stand in one come first, each as a message of its own."""
    alone = "content" not in told and text(told.get("type")) in _CALLS | _RESULTS
    parts = [_part_kind(part) for part in ([told] if alone else _parts(told))]
    yield from (_result(part) for kind, part in parts if kind in _RESULTS)
    content = [_content_part(kind, part) for kind, part in parts if kind not in _CALLS | _RESULTS | _IGNORED_PARTS]
    if role == "assistant":
        calls = [_call(part) for kind, part in parts if kind in _CALLS]
        yield _answer(content, calls or _calls_beside(told))
    elif role == "tool":
        if not any(kind in _RESULTS for kind, _ in parts):
            yield _result(told)
    elif content:
        yield {"role": role, "content": _plain_content(content)}


def _calls_beside(told: Mapping[str, Json]) -> list[Json]:
    """Calls that stand beside the content; LangChain keeps the provider's own in a place apart."""
    for beside in (told, mapping(told.get("additional_kwargs"))):
        if calls := items(first(beside, "tool_calls", "function_call")):
            return [_call(mapping(each)) for each in calls]
    return []


def _parts(told: Mapping[str, Json]) -> list[Json]:
    content = first(told, "content", "parts", "refusal")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(items(content))


def _part_kind(part: Json) -> tuple[str, Mapping[str, Json]]:
    if isinstance(part, str):
        return "text", {"text": part}
    told = mapping(part)
    for name in ("functionCall", "functionResponse"):  # Gemini names the kind by the key
        if name in told:
            return name, mapping(told[name])
    return text(told.get("type")) or ("text" if "text" in told else "part"), told


def _part_text(part: Mapping[str, Json]) -> str:
    words = first(part, "text", "content", "refusal")
    return words if isinstance(words, str) else ""


def _content_part(kind: str, part: Mapping[str, Json]) -> Json:
    """A part of a message: text, or a picture."""
    if kind in _TEXTS:
        return {"type": "text", "text": _part_text(part)}
    source = mapping(part.get("source"))
    if kind == "image_url":
        return {"type": "image_url", "image_url": part.get("image_url")}
    if kind == "input_image" and isinstance(part.get("image_url"), str):
        return {"type": "image_url", "image_url": {"url": part["image_url"]}}
    if kind == "image" and source.get("type") == "base64":
        return {
            "type": "image_url",
            "image_url": {"url": f"data:{source.get('media_type')};base64,{source.get('data')}"},
        }
    raise UnusableRecord(f"a message in it has a part of the kind {kind[:40]!r}, which no case can hold")


def _call(part: Mapping[str, Json]) -> Json:
    """A call in whatever shape. Arguments that are a text stay the text that they are."""
    part = mapping(part.get("tool_call")) or part
    inner = mapping(part.get("function")) or part
    given = (inner[key] for key in ("arguments", "args", "input", "parameters") if inner.get(key) is not None)
    arguments = next(given, {})
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    name = text(first(inner, "name", "toolName")) or text(part.get("function")) or ""
    return {
        "id": text(first(part, "call_id", "id", "tool_call_id", "toolCallId")) or "",
        "type": "function",
        "function": {"name": name, "arguments": written},
    }


def _result(part: Mapping[str, Json]) -> Message:
    given = next((part[key] for key in ("content", "output", "response", "result") if part.get(key) is not None), "")
    return {
        "role": "tool",
        "tool_call_id": text(first(part, *_CALL_ID_FIELDS)) or "",
        "content": _result_text(given),
    }


def _result_text(given: Json) -> str:
    """A result as the model was told it. Parts of text are one text; any other value is its JSON."""
    if isinstance(given, str):
        return given
    if isinstance(given, Mapping) and given.keys() == {"type", "value"}:  # Vercel's AI SDK
        return _result_text(given["value"])
    parts = [mapping(part) for part in given] if isinstance(given, list) else []
    if parts and all(text(part.get("type")) in _TEXTS and isinstance(part.get("text"), str) for part in parts):
        return "".join(str(part["text"]) for part in parts)
    return json.dumps(given, ensure_ascii=False)


def _answer(content: list[Json], calls: list[Json]) -> Message:
    said = "".join(str(mapping(part).get("text") or "") for part in content)
    if calls:
        return {"role": "assistant", "content": said or None, "tool_calls": calls}
    return {"role": "assistant", "content": said}


def _plain_content(content: list[Json]) -> Json:
    """Parts that are all text are one text, as most providers take them."""
    if len(content) == 1 and mapping(content[0]).get("type") == "text":
        return intern(str(mapping(content[0])["text"]))  # system messages are long, and always the same
    return content


def _continues(last: Message, message: Message) -> bool:
    """Whether one answer was told in two pieces, as Responses tells text and calls."""
    return last["role"] == message["role"] == "assistant"


def _joined_answers(last: Message, message: Message) -> Message:
    texts = [each["content"] for each in (last, message) if isinstance(each["content"], str)]
    calls = [*items(last.get("tool_calls")), *items(message.get("tool_calls"))]
    joined: dict[str, Json] = {"role": "assistant", "content": "".join(map(str, texts)) or None}
    return {**joined, "tool_calls": calls} if calls else joined


def tools_of(told: Json) -> tuple[Tool, ...]:
    """Read tools in any provider's shape. What the provider runs itself is no tool to test, and left out."""
    return _distinct_tools(told if isinstance(told, str) else json.dumps(told)) if told else ()


@lru_cache(maxsize=256)  # an app offers the same tools with every request
def _distinct_tools(told: str) -> tuple[Tool, ...]:
    found: dict[str, Tool] = {}
    for each in items(parsed(told)):
        for tool in _valid_tools(parsed(each)):
            found.setdefault(tool.name, tool)
    return tuple(found.values())


def _valid_tools(told: Json) -> Iterator[Tool]:
    if schema := mapping(told).get("json_schema"):  # OpenInference
        told = parsed(schema)
    try:
        yield from tools_from_data(told)
    except (SchemaError, RecursionError):
        return


def settings_of(told: Mapping[str, Json]) -> dict[str, Json]:
    """Those that shape an answer, as every provider understands them; a named tool as its name."""
    given = {name: told[name] for name in KNOWN_SETTINGS if told.get(name) is not None}
    if "tool_choice" in given:
        chosen = _tool_choice(given.pop("tool_choice"))
        if chosen is not None:
            given["tool_choice"] = chosen
    return given


def _tool_choice(told: Json) -> Json:
    """The choice in our words; None where it is the usual one."""
    if isinstance(told, str):
        return None if told == "auto" else told
    choice = mapping(told)
    word = {"any": "required", "none": "none", "auto": None}.get(str(choice.get("type")), "")
    return (mapping(choice.get("function")).get("name") or choice.get("name")) if word == "" else word
