"""What an interface is: how its requests, tools, answers and streams are read."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from re import Pattern

from pytest_fcall.backends.openai.answer_fields import items, mapping
from pytest_fcall.backends.redaction import without_secrets
from pytest_fcall.core import Json, Message, Reply, Request, Tool, canonical
from pytest_fcall.schema.errors import SchemaError
from pytest_fcall.schema.sources.tool_data import tool_from_data


def stream_events(body: bytes) -> Iterator[Mapping[str, Json]]:
    """The JSON objects among the events of a stream. What is none, such as `[DONE]`, is passed over."""
    for block in body.decode(errors="replace").replace("\r\n", "\n").split("\n\n"):
        data = "\n".join(line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:"))
        with suppress(ValueError, RecursionError):
            event: Json = json.loads(data)
            if isinstance(event, Mapping):
                yield event


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """What a request has under `tools`, read."""

    text: str
    """Its canonical JSON."""
    tools: tuple[Tool, ...]
    """The functions among them."""
    foreign: tuple[Json, ...]
    """What the provider runs itself."""


NO_TOOLS = OfferedTools("null", (), ())


class _PickleKey:
    """A key of a cache: equal to what is packed into the same bytes."""

    __slots__ = ("bytes", "it")

    def __init__(self, it: Json) -> None:
        self.it = it
        self.bytes = pickle.dumps(it)  # in a third of the time that JSON takes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _PickleKey) and self.bytes == other.bytes

    def __hash__(self) -> int:
        return hash(self.bytes)


def read_offered_tools(told: Json) -> OfferedTools:
    """Read them, quickly if they were read lately. Raises ValueError and RecursionError as `canonical` does."""
    return _read_offered(_PickleKey(told))


@lru_cache(maxsize=64)
def _read_offered(packed: _PickleKey) -> OfferedTools:
    tools: list[Tool] = []
    foreign: list[Json] = []
    for each in items(packed.it):
        try:
            tools.append(tool_from_data(each))
        except (SchemaError, RecursionError):
            foreign.append(each)
    return OfferedTools(canonical(packed.it), tuple(tools), tuple(foreign))


_LONGEST_TEXT = 4_000
"""A longer text without a single space is a picture, a sound or a file."""
_SHOWN_OF_DATA = 40

Body = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Interface:
    """How bodies of an interface are read. All of it takes whatever comes."""

    prices: str
    """What stands before the names of its models in lists of prices."""
    said: Callable[[Body], Iterator[Message]]
    """The messages of a request."""
    spoken_by: frozenset[str]
    """The keys of a request that `said` has read."""
    reply: Callable[[Body], Reply | None]
    """The reply in an answer; None where there is none."""
    whole: Callable[[Iterable[Body]], Body]
    """The answer that the events of a stream come to."""
    end: Pattern[bytes]
    """What stands in a stream that has come to its end, and in no other."""

    def request(self, body: Body, offered: OfferedTools, sample: int) -> Request:
        """What is asked, for people and for judging: long data is cut, and what may be a key is left out.

        `body` is without what is `offered`.
        """
        settings = {key: value for key, value in body.items() if key not in self.spoken_by}
        if offered.foreign:
            settings["tools"] = list(offered.foreign)
        messages = tuple(mapping(without_long_data(message)) for message in self.said(body))
        return Request(messages, offered.tools, without_secrets(mapping(without_long_data(settings))), sample)


def without_long_data(value: Json) -> Json:
    """The value, without the data of pictures and files: what tells them apart is the digest of the whole."""
    if isinstance(value, str):
        return (
            f"{value[:_SHOWN_OF_DATA]}… ({len(value)} characters)"
            if len(value) > _LONGEST_TEXT and " " not in value
            else value
        )
    if isinstance(value, dict):
        return {key: without_long_data(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_long_data(item) for item in value]
    return value
