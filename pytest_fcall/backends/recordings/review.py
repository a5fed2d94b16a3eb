"""The text of recordings that a person reviews: a line for each reply, and one for each part that many of them share.

The line of a reply has the question and the answer, and nothing that changes although the answer does not: ids of
calls, times, tokens, signatures, versions of software. Tools, instructions and settings are the shared parts. The
bookkeeping names them by their digests: a context is those of one request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from pytest_fcall.backends.recordings.entry import Recording, spans_to_data
from pytest_fcall.backends.recordings.line import tool_details, tool_of, tool_to_data
from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.core.digests import catalogue_digest, digest, without_paths
from pytest_fcall.core.json_data import (
    DamagedData,
    as_mapping,
    optional_field,
    read_json,
    readable_json,
    refuse_constant,
    required_field,
)
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.core.values import Json, Message

_INSTRUCTIONS = ("system", "developer")


class Review(NamedTuple):
    """A reply as it is reviewed. Sorted, reviews are in the order in which people read them."""

    case: str
    sample: int
    turn: int
    line: str


def instructions_of(request: Request) -> tuple[Message, ...]:
    """The messages at the beginning that give the model its instructions."""
    messages = request.messages
    number = next((n for n, each in enumerate(messages) if each.get("role") not in _INSTRUCTIONS), len(messages))
    return messages[:number]


def review_of(entry: Recording) -> Review:
    """The line of a recording. Raises ValueError, TypeError or RecursionError if it is not valid JSON data."""
    messages = entry.request.messages[len(instructions_of(entry.request)) :]
    turn = 1 + sum(message.get("role") == "assistant" for message in messages[:-1])
    fields: dict[str, Json] = {
        "case": entry.case,
        "messages": [_message(message) for message in _newest(messages)],
        "reply": dict(_answer(entry)),
    }
    if entry.request.sample > 0:
        fields["sample"] = entry.request.sample
    if turn > 1:
        fields["turn"] = turn
    return Review(entry.case, entry.request.sample, turn, readable_json(fields))


def _newest(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages since the last answer: what was said before is in the lines of earlier turns."""
    answers = [number for number, message in enumerate(messages[:-1]) if message.get("role") == "assistant"]
    return messages[answers[-1] + 1 :] if answers else messages


def _answer(entry: Recording) -> Iterator[tuple[str, Json]]:
    reply = entry.reply
    if reply.text:
        yield "text", reply.text
    if reply.tool_calls:
        yield "calls", [_call(call.name, call.arguments) for call in reply.tool_calls]
    yield "finish", reply.finish
    for name in ("refusal", "malformed", "decoder"):
        if (value := getattr(reply, name)) is not None:
            yield name, value
    if reply.trail:
        asked = list(entry.request.messages)
        repeated = len(asked) if list(reply.trail[: len(asked)]) == asked else 0
        yield "trail", [_message(message) for message in reply.trail[repeated:]]
    if reply.spans and (spans := spans_to_data(reply.spans)):
        yield "spans", spans


def _message(message: Message) -> Json:
    """A message without ids and without what only the provider understands."""
    if message.get("role") != "assistant":
        return without_paths({key: value for key, value in message.items() if key != "tool_call_id"})
    shown: dict[str, Json] = {"role": "assistant", "content": message.get("content")}
    calls = message.get("tool_calls")
    if isinstance(calls, Sequence) and calls:
        shown["calls"] = [_call_in_message(call) for call in calls]
    return shown


def _call_in_message(call: Json) -> Json:
    called = call.get("function", call) if isinstance(call, Mapping) else call
    return _call(called.get("name"), called.get("arguments")) if isinstance(called, Mapping) else called


def _call(name: Json, arguments: Json) -> Json:
    """A call as case files write it: `{get_weather: {city: Oslo}}`."""
    shown = _arguments(arguments)
    return {name: shown} if isinstance(name, str) else {"name": name, "arguments": shown}


def _arguments(value: Json) -> Json:
    """The arguments as an object also where the provider gave its text."""
    if not isinstance(value, str):
        return value
    try:
        arguments = read_json(value, refuse_constant)
    except ValueError:
        return value
    return arguments if isinstance(arguments, Mapping) else value


_DIGEST_LENGTH = 12
"""Hexadecimal digits of a digest. The parts of one file are few."""

Part = TypeVar("Part")


class Context(NamedTuple):
    """The parts that requests have in common."""

    tools: tuple[Tool, ...]
    instructions: tuple[Message, ...]
    settings: Mapping[str, Json]


NO_CONTEXT = Context((), (), {})


class WrittenParts:
    """The shared parts of the recordings that are written to a file."""

    def __init__(self) -> None:
        self._contexts: dict[str, str] = {}
        self._tools: dict[tuple[str, str], str] = {}
        self._instructions: dict[str, str] = {}
        self._settings: dict[str, str] = {}
        self._catalogues: dict[str, list[Json]] = {}

    def add(self, request: Request) -> str:
        """Add the parts of a request, and return the digest of its context. Raises ValueError or TypeError."""
        context: dict[str, Json] = {}
        if request.tools:
            context["tools"] = self._catalogue(request.tools)
        if instructions := instructions_of(request):
            context["system"] = [self._instruction(message) for message in instructions]
        if settings := without_secrets(request.settings):
            name = _short(settings)
            self._settings.setdefault(name, readable_json({"settings": settings}))
            context["settings"] = name
        name = _short(context)
        if name not in self._contexts:
            self._contexts[name] = readable_json({"context": name, **context})
        return name

    def _catalogue(self, tools: tuple[Tool, ...]) -> list[Json]:
        catalogue = catalogue_digest(tools)
        if catalogue not in self._catalogues:
            self._catalogues[catalogue] = [[tool.name, self._tool(tool)] for tool in tools]
        return self._catalogues[catalogue]

    def _tool(self, tool: Tool) -> str:
        name = _short(tool_to_data(tool))
        # By hand: the name comes first, so that people find it.
        self._tools[tool.name, name] = f'{{"tool": {readable_json(tool.name)}, {readable_json(tool_details(tool))[1:]}'
        return name

    def _instruction(self, message: Message) -> str:
        name = _short(message)
        if name not in self._instructions:
            is_plain = message.keys() == {"role", "content"} and message["role"] == "system"
            shown = message["content"] if is_plain and isinstance(message["content"], str) else message
            self._instructions[name] = readable_json({"system": shown})
        return name

    def lines(self) -> Iterator[str]:
        """The parts for review: tools by name, the others by the case that needs them first."""
        yield from (line for _, line in sorted(self._tools.items(), key=lambda item: (item[0][0], item[1])))
        yield from self._instructions.values()
        yield from self._settings.values()

    def contexts(self) -> list[str]:
        """The contexts for the bookkeeping, sorted."""
        return sorted(self._contexts.values())


class ReadParts:
    """The shared parts in the lines of a file.

    A merge of two branches may have taken away a part that a recording was made with, because one of them changed it.
    The reply is still good. In the place of the part then stands another of its kind, such as a tool of the same name.
    """

    def __init__(self) -> None:
        self._tools: dict[str, dict[str, Tool]] = {}
        self._instructions: dict[str, Message] = {}
        self._settings: dict[str, Mapping[str, Json]] = {}
        self._contexts: dict[str, Mapping[str, Json]] = {}
        self._resolved: dict[str, Context] = {}

    def read_part(self, fields: Mapping[str, Json]) -> None:
        """Read a line of `WrittenParts.lines`. Raises DamagedData for another."""
        if "tool" in fields:
            tool = tool_of(fields, "tool")
            self._tools.setdefault(tool.name, {})[_checked_name(tool_to_data(tool))] = tool
        elif "system" in fields:
            shown = fields["system"]
            plain: Message = {"role": "system", "content": shown}
            message = plain if isinstance(shown, str) else as_mapping(shown, "`system`")
            self._instructions[_checked_name(message)] = message
        elif "settings" in fields:
            settings = as_mapping(fields["settings"], "`settings`")
            self._settings[_checked_name(settings)] = settings
        else:
            raise DamagedData(
                "this line is neither a header, nor a tool, nor a system prompt, nor settings, nor a reply"
            )

    def read_context(self, fields: Mapping[str, Json]) -> None:
        """Read a line of `WrittenParts.contexts`. Raises DamagedData for another."""
        self._contexts[required_field(fields, "context", str)] = fields

    def context(self, name: str) -> Context:
        """The context with this digest. Raises DamagedData if the file does not hold its parts."""
        if name not in self._resolved:
            self._resolved[name] = NO_CONTEXT  # so that a fault is reported once
            self._resolved[name] = self._resolve(_part(self._contexts, name, "the context"))
        return self._resolved[name]

    def _resolve(self, fields: Mapping[str, Json]) -> Context:
        tools = tuple(self._tool(entry) for entry in optional_field(fields, "tools", list) or ())
        names = optional_field(fields, "system", list) or ()
        instructions = tuple(_part(self._instructions, name, "the system prompt") for name in names)
        settings = optional_field(fields, "settings", str)
        return Context(tools, instructions, _part(self._settings, settings, "the settings") if settings else {})

    def _tool(self, entry: Json) -> Tool:
        match entry:
            case [str(name), str(digest)]:
                return _part(self._tools.get(name, {}), digest, f"the tool {name}")
        raise DamagedData("a tool of `tools` is not a name with a digest")


def _part(parts: Mapping[str, Part], name: Json, words: str) -> Part:
    """The part of this name, or the first one there is."""
    if not isinstance(name, str):
        raise DamagedData(f"{words} is not named by a digest")
    if not parts:
        raise DamagedData(f"{words} of this recording cannot be found")
    return parts[name] if name in parts else next(iter(parts.values()))


def _short(data: Json) -> str:
    return digest(data)[:_DIGEST_LENGTH]


def _checked_name(data: Json) -> str:
    """The digest of what was read. Raises DamagedData for what is no JSON."""
    try:
        return _short(data)
    except (ValueError, RecursionError):
        raise DamagedData("this line holds NaN or Infinity, which are not JSON numbers") from None
