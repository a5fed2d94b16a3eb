"""One interface of models: how what is asked and answered by it is read."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from re import Pattern

from pytest_fcall.backends.openai.fields import items, mapping
from pytest_fcall.backends.secrets import public
from pytest_fcall.core import Json, Message, Reply, Request, Tool
from pytest_fcall.schema import SchemaError, tool_from_data

_LONGEST = 4_000
"""A longer text without a single space is a picture, a sound or a file."""
_SHOWN = 40

Body = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Form:
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

    def request(self, body: Body) -> Request:
        """What is asked, for people and for judging: long data is cut, and what may be a key is left out."""
        tools, foreign = _tools(_Told(body.get("tools")))
        settings = {key: value for key, value in body.items() if key not in self.spoken_by and key != "tools"}
        if foreign:
            settings["tools"] = list(foreign)
        messages = tuple(mapping(cut(message)) for message in self.said(body))
        return Request(messages, tools, public(mapping(cut(settings))))


class _Told:
    """What an app tells of its tools, as a key of a cache: equal to what is packed into the same bytes."""

    __slots__ = ("_packed", "it")

    def __init__(self, it: Json) -> None:
        self.it = it
        self._packed = pickle.dumps(it)  # in a third of the time that JSON takes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Told) and self._packed == other._packed

    def __hash__(self) -> int:
        return hash(self._packed)


@lru_cache(maxsize=64)
def _tools(told: _Told) -> tuple[tuple[Tool, ...], tuple[Json, ...]]:
    """The functions among the tools, and what the provider runs itself.

    Apps offer the same tools again and again, and to read them takes as long as all the rest.
    """
    tools: list[Tool] = []
    foreign: list[Json] = []
    for each in items(told.it):
        try:
            tools.append(tool_from_data(each))
        except (SchemaError, RecursionError):
            foreign.append(each)
    return tuple(tools), tuple(foreign)


def cut(value: Json) -> Json:
    """The value, without the data of pictures and files: what tells them apart is the digest of the whole."""
    if isinstance(value, str):
        return f"{value[:_SHOWN]}… ({len(value)} characters)" if len(value) > _LONGEST and " " not in value else value
    if isinstance(value, dict):
        return {key: cut(item) for key, item in value.items()}
    if isinstance(value, list):
        return [cut(item) for item in value]
    return value
