"""Messages and tools as local models and their templates take them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from pytest_fcall.core import CaseRefused, Json, Message, Tool

Change: TypeAlias = Callable[[Json], Json]


def text_of(message: Message) -> str:
    """The text of a message, its parts joined. Raises CaseRefused for what is no text, such as an image."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list | tuple):
        return "".join(map(_part, content))
    raise CaseRefused("a message is neither text nor a list of parts")


def _part(part: Json) -> str:
    if isinstance(part, Mapping) and part.get("type") in ("text", "input_text") and isinstance(part.get("text"), str):
        return str(part["text"])
    kind = part.get("type") if isinstance(part, Mapping) else None
    raise CaseRefused(f"local models read text only, and a message has a part of type {kind!r:.40}")


def fit(message: Message) -> Message:
    """The message as templates expect it: text as one, calls with arguments as mappings, today's names of roles."""
    role = {"developer": "system", "function": "tool"}.get(str(message.get("role")), message.get("role"))
    return _with_calls({**message, "role": role, "content": text_of(message)}, _parsed)


def with_names(messages: Sequence[Message]) -> list[Message]:
    """Results with the names of the functions that gave them: some templates ask for these, and not for ids."""
    names: dict[str, Json] = {}
    for message in messages:
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list | tuple) else ():
            if isinstance(call, Mapping) and isinstance(function := call.get("function"), Mapping):
                names[str(call.get("id"))] = function.get("name")
    return [_with_name(message, names) for message in messages]


def _with_name(message: Message, names: Mapping[str, Json]) -> Message:
    if message.get("role") != "tool" or "name" in message:
        return message
    name = names.get(str(message.get("tool_call_id")))
    return {**message, "name": name} if name is not None else message


def with_short_ids(messages: Sequence[Message]) -> Sequence[Message]:
    """Calls named by nine digits each: the templates of Mistral take no other names than those of nine characters."""
    ids: dict[str, str] = {}

    def short(given: Json) -> str:
        return ids.setdefault(str(given), f"{len(ids):09}")

    def renamed(message: Message) -> Message:
        calls = message.get("tool_calls")
        if isinstance(calls, list | tuple):
            named = [{**call, "id": short(call.get("id"))} for call in calls if isinstance(call, Mapping)]
            return {**message, "tool_calls": named}
        return {**message, "tool_call_id": short(message["tool_call_id"])} if "tool_call_id" in message else message

    return [renamed(message) for message in messages]


def with_arguments_as_text(messages: Sequence[Message]) -> Sequence[Message]:
    """Arguments are mappings to most templates, and text to some."""

    def text(given: Json) -> Json:
        return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)

    return [_with_calls(message, text) for message in messages]


def merged(messages: Sequence[Message]) -> Sequence[Message]:
    """What the user says in one go as one message, for templates that want users and assistants to alternate."""
    turns: list[Message] = []
    for message in messages:
        if turns and turns[-1].get("role") == message.get("role") == "user":
            turns[-1] = {**turns[-1], "content": f"{turns[-1]['content']}\n\n{message['content']}"}
        else:
            turns.append(message)
    return turns


def in_parts(messages: Sequence[Message]) -> Sequence[Message]:
    """Each text as a list of one part."""
    return [{**message, "content": [{"type": "text", "text": message["content"]}]} for message in messages]


def _with_calls(message: Message, change: Change) -> Message:
    calls = message.get("tool_calls")
    if not isinstance(calls, list | tuple):
        return message
    return {**message, "tool_calls": [_with_arguments(call, change) for call in calls if isinstance(call, Mapping)]}


def _with_arguments(call: Mapping[str, Json], change: Change) -> Json:
    called = call.get("function")
    if not isinstance(called, Mapping):
        return call
    return {"type": "function", **call, "function": {**called, "arguments": change(called.get("arguments"))}}


def _parsed(given: Json) -> Json:
    if not isinstance(given, str):
        return given
    try:
        found = json.loads(given)
    except (ValueError, RecursionError):
        return given
    return found if isinstance(found, dict) else given


def folded(messages: Sequence[Message]) -> Sequence[Message]:
    """What the system says put before the first question, for templates that take no such message."""
    system = [str(message["content"]) for message in messages if message.get("role") == "system"]
    rest = [message for message in messages if message.get("role") != "system"]
    if not system:
        return rest
    if not rest or rest[0].get("role") != "user":
        return [{"role": "user", "content": "\n\n".join(system)}, *rest]
    return [{**rest[0], "content": "\n\n".join([*system, str(rest[0]["content"])])}, *rest[1:]]


def with_tools(messages: Sequence[Message], tools: Sequence[Json]) -> Sequence[Message]:
    """The tools as JSON in the system message, under the key that templates like Phi's look for."""
    told = json.dumps(tools, ensure_ascii=False)
    if messages and messages[0].get("role") == "system":
        return [{**messages[0], "tools": told}, *messages[1:]]
    return [{"role": "system", "content": "", "tools": told}, *messages]


def function(tool: Tool) -> Mapping[str, Json]:
    """The tool as models are told it, under its own name and schema."""
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
