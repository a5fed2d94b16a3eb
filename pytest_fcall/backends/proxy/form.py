"""One interface of models: how what is asked and answered by it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

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

    def request(self, body: Body) -> Request:
        """What is asked, for people and for judging: long data is cut, and what may be a key is left out."""
        tools, foreign = _tools(items(body.get("tools")))
        settings = {key: value for key, value in body.items() if key not in self.spoken_by and key != "tools"}
        if foreign:
            settings["tools"] = foreign
        messages = tuple(mapping(cut(message)) for message in self.said(body))
        return Request(messages, tools, public(mapping(cut(settings))))


def _tools(told: Iterable[Json]) -> tuple[tuple[Tool, ...], list[Json]]:
    """The functions among the tools, and what the provider runs itself."""
    tools: list[Tool] = []
    foreign: list[Json] = []
    for each in told:
        try:
            tools.append(tool_from_data(each))
        except (SchemaError, RecursionError):
            foreign.append(each)
    return tuple(tools), foreign


def cut(value: Json) -> Json:
    """The value, without the data of pictures and files: what tells them apart is the digest of the whole."""
    if isinstance(value, str):
        return f"{value[:_SHOWN]}… ({len(value)} characters)" if len(value) > _LONGEST and " " not in value else value
    if isinstance(value, Mapping):
        return {key: cut(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [cut(item) for item in value]
    return value
