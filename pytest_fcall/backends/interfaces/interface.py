"""The protocol of an interface: its requests, offered tools, answers and streams."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from re import Pattern

from pytest_fcall.backends.interfaces.stream import Body, Stream
from pytest_fcall.backends.openai.answer_fields import items, mapping, text
from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.core.digests import canonical
from pytest_fcall.core.reply import RawCall, Reply
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.core.values import Json, Message
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.tool_data import tool_from_data

BOOKKEEPING_FIELDS = frozenset({"metadata", "user", "safety_identifier", "prompt_cache_key"})
"""Fields of a request for the provider's accounts, often with another value each time. No answer depends on them."""
_MAX_TEXT = 4_000
"""A longer text without a single space is the data of an image, a sound or a file."""
_SHOWN_DATA = 40


def messages_of_body(body: Body) -> Iterator[Message]:
    """The messages of a request that has them as most interfaces do."""
    for message in items(body.get("messages")):
        yield mapping(message)


@dataclass(frozen=True, slots=True)
class WireInterface:
    """The functions that read the bodies of an interface. They accept any body."""

    price_prefix: str
    """Precedes the names of its models in price lists."""
    messages: Callable[[Body], Iterator[Message]]
    """The messages of a request."""
    message_keys: frozenset[str]
    """The keys of a request that `messages` reads."""
    reply: Callable[[Body], Reply | None]
    """The reply in an answer; None where there is none."""
    join_stream: Callable[[Iterable[Body]], Body]
    """The answer that the events of a stream form together."""
    end_of_stream: Pattern[bytes]
    """Occurs near the end of every whole stream."""
    fault: Callable[[Body], str]
    """The reason why an answer is not whole, without a subject; empty for one that is."""
    stream_fault: Callable[[Stream], str]
    """The reason why a stream is not whole, where the answer that its events form does not show it."""
    tools_key: str = "tools"
    """The key of a request that holds its tools."""
    tool_data: Callable[[Json], Iterable[Json]] = items
    """The tools in the value of this key, one by one."""

    def request(self, body: Body, offered: OfferedTools, sample: int) -> Request:
        """The request in a body from which the tools were removed, for people and for judging.

        Long data is cut, and what may be a key is left out.
        """
        settings = {key: value for key, value in body.items() if key not in self.message_keys}
        if offered.provider_tools:
            settings["tools"] = list(offered.provider_tools)
        messages = tuple(mapping(without_long_data(message)) for message in self.messages(body))
        return Request(messages, offered.tools, without_secrets(mapping(without_long_data(settings))), sample)

    def answer_fault(self, body: Json) -> str:
        """The reason why the JSON of an answer is not a whole answer; empty for one that is."""
        if not isinstance(body, Mapping):
            return "is not a JSON object"
        return _error(body) or self.fault(body)

    def whole_stream_fault(self, stream: Stream) -> str:
        """The reason why a stream is not a whole answer; empty for one that is."""
        if not (stream.events or stream.fault):
            return "is a stream without events"
        error = next(filter(None, map(_error, stream.events)), "")
        fault = error or (f"is a stream in which {stream.fault}" if stream.fault else "") or self.stream_fault(stream)
        return fault or self.answer_fault(self.join_stream(stream.events))


def _error(body: Body) -> str:
    error = body.get("error") or (body if body.get("type") == "error" else None)
    if not error:
        return ""
    said = error if isinstance(error, str) else text(mapping(error).get("message")) or _json_text(error)
    return f"reports an error: {said}"


def _json_text(value: Json) -> str:
    """The JSON of a value, or nothing for one that has none."""
    try:
        return canonical(value)
    except (ValueError, RecursionError):
        return ""


def called_function(call: Body) -> RawCall:
    """The call, of which the name and the arguments stand in `function`."""
    function = mapping(call.get("function"))
    return RawCall(function.get("name"), function.get("arguments"), text(call.get("id")))


def without_long_data(value: Json) -> Json:
    """The value without the data of images and files; the digest of the whole body still depends on them."""
    if isinstance(value, str):
        is_data = len(value) > _MAX_TEXT and " " not in value
        return f"{value[:_SHOWN_DATA]}… ({len(value)} characters)" if is_data else value
    if isinstance(value, dict):
        return {key: without_long_data(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_long_data(item) for item in value]
    return value


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """The tools of a request."""

    text: str
    """Their canonical JSON."""
    tools: tuple[Tool, ...]
    """The functions among them."""
    provider_tools: tuple[Json, ...]
    """The tools that the provider runs itself."""


NO_TOOLS = OfferedTools("null", (), ())


class _PickleKey:
    """A cache key; values with the same pickle are equal."""

    __slots__ = ("pickled", "value")

    def __init__(self, value: Json) -> None:
        self.value = value
        self.pickled = pickle.dumps(value)  # takes a third of the time of JSON

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _PickleKey) and self.pickled == other.pickled

    def __hash__(self) -> int:
        return hash(self.pickled)


def read_offered_tools(data: Json, tool_data: Callable[[Json], Iterable[Json]] = items) -> OfferedTools:
    """Read the tools of a request. Raises ValueError and RecursionError as `canonical` does."""
    return _read_offered_tools(_PickleKey(data), tool_data)


@lru_cache(maxsize=64)
def _read_offered_tools(key: _PickleKey, tool_data: Callable[[Json], Iterable[Json]]) -> OfferedTools:
    tools: list[Tool] = []
    provider_tools: list[Json] = []
    for each in tool_data(key.value):
        try:
            tools.append(tool_from_data(each))
        except (SchemaError, RecursionError):
            provider_tools.append(each)
    return OfferedTools(canonical(key.value), tuple(tools), tuple(provider_tools))
