"""Native requests in the words of the official handlers, by the interface that a handler is written for."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_fcall.core.request import Interface, Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.decoding.python_source import NotPython, parse_expression

TEMPERATURE: Final = 0.001
"""The harness's default for every model."""

_KEEP_DOTS: Final = frozenset({"fireworks", "writer", "local"})
_TELL_RESPONSE: Final = frozenset({"anthropic", "google", "amazon", "fireworks", "novita", "writer"})
"""Their handlers write what a function returns into its description."""
_SEND_RESPONSE: Final = frozenset({"openai", "responses", "mistral", "local"})
"""Their handlers send what a function returns under a key of its own."""
_PLAIN_SCHEMAS: Final = frozenset({"google", "writer"})
_JOIN_USERS: Final = frozenset({"anthropic", "amazon"})
_TOLD_KEYWORDS: Final[Mapping[str, str]] = {
    "default": "Default is",
    "optional": "Optional",
    "required": "Required",
    "maximum": "Maximum value",
    "minItems": "Minimum number of items",
    "maxItems": "Maximum number of items",
    "additionalProperties": "Additional properties",
}
"""Keywords that become a sentence of a parameter's description, in this order."""


@dataclass(frozen=True, slots=True)
class HandlerWording:
    """Writes as the handler for an interface does; for `local`, as those do that leave documents as they are."""

    def messages(self, messages: Sequence[Message], interface: Interface) -> Sequence[Message]:
        """Return the messages: with other roles, with one of the user for several, or with results in another form."""
        if interface == "responses":
            return [{**each, "role": "developer"} if each.get("role") == "system" else each for each in messages]
        if interface in _RESULT_WRITERS:
            write = _RESULT_WRITERS[interface]
            return [_with_result(each, write) if each.get("role") == "tool" else each for each in messages]
        return [*_joined_users(messages)] if interface in _JOIN_USERS else messages

    def function(self, tool: Tool, interface: Interface) -> Mapping[str, Json]:
        """Return a function of `native_tool` as it is sent."""
        name = tool.name if interface in _KEEP_DOTS else tool.name.replace(".", "_")
        description, parameters = tool.description, tool.parameters
        if interface == "local" and tool.declared is not None:
            parameters = tool.declared
        if interface in _PLAIN_SCHEMAS:
            parameters = _plain(parameters, any_enum=interface == "google")
        if tool.returns is not None and interface in _TELL_RESPONSE:
            description += f" The response field has the following schema: {json.dumps(tool.returns)}"
        function: dict[str, Json] = {"name": name, "description": description, "parameters": parameters}
        if tool.returns is not None and interface in _SEND_RESPONSE:
            function["response"] = tool.returns
        return function


HANDLER_WORDING: Final = HandlerWording()


def _with_result(message: Message, write: Callable[[str], str]) -> Message:
    content = message.get("content")
    return {**message, "content": write(content)} if isinstance(content, str) else message


def _google_result(text: str) -> str:
    """The response of a function as Google takes it, an object; any-llm would make one of what the text says."""
    return json.dumps({"result": text}, ensure_ascii=False)


def _cohere_result(text: str) -> str:
    """A result without the key `id`, if it is a dictionary in Python: the handler calls it `ID`."""
    try:
        result = ast.literal_eval(parse_expression(text))
        if not isinstance(result, dict):
            return text
        if "id" in result:
            result["ID"] = result.pop("id")
        return json.dumps(result)
    except (NotPython, ValueError, TypeError, RecursionError):
        return text


_RESULT_WRITERS: Final[Mapping[Interface, Callable[[str], str]]] = {"google": _google_result, "cohere": _cohere_result}


def _joined_users(messages: Sequence[Message]) -> Iterator[Message]:
    """The messages, with one of the user for several that follow one another."""
    last: Message | None = None
    for message in messages:
        if last is not None and last.get("role") == message.get("role") == "user":
            last = {**last, "content": f"{last.get('content')}\n\n{message.get('content')}"}
            continue
        if last is not None:
            yield last
        last = message
    if last is not None:
        yield last


def _plain(parameters: Mapping[str, Json], *, any_enum: bool) -> Mapping[str, Json]:
    """Parameters without the keywords that Gemini and Palmyra do not know, which their descriptions tell instead."""
    plain = {key: value for key, value in parameters.items() if key != "optional"}
    properties = parameters.get("properties")
    if isinstance(properties, Mapping):
        plain["properties"] = {
            name: _plain_parameter(schema, any_enum=any_enum) if isinstance(schema, Mapping) else schema
            for name, schema in properties.items()
        }
    return plain


def _plain_parameter(schema: Mapping[str, Json], *, any_enum: bool) -> Mapping[str, Json]:
    """One parameter; what is inside it stays. `any_enum` keeps the options of a string."""
    plain = {**schema, "description": schema.get("description", "")}
    is_string = schema.get("type") == "string"
    keywords = dict(_TOLD_KEYWORDS)
    if not (any_enum and is_string):
        keywords["enum"] = "Enum values"
    if is_string:
        keywords["format"] = "Format"
    for key, words in keywords.items():
        if key in plain:
            plain["description"] = f"{plain['description']} {words}: {plain.pop(key)}."
    return plain
