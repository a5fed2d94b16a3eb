"""One interface of models: how what is asked and answered by it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from re import Pattern

from pytest_fcall.backends.forms.offered import Offered
from pytest_fcall.backends.openai.fields import mapping
from pytest_fcall.backends.secrets import public
from pytest_fcall.core import Json, Message, Reply, Request

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

    def request(self, body: Body, offered: Offered, sample: int) -> Request:
        """What is asked, for people and for judging: long data is cut, and what may be a key is left out.

        `body` is without what is `offered`.
        """
        settings = {key: value for key, value in body.items() if key not in self.spoken_by}
        if offered.foreign:
            settings["tools"] = list(offered.foreign)
        messages = tuple(mapping(cut(message)) for message in self.said(body))
        return Request(messages, offered.tools, public(mapping(cut(settings))), sample)


def cut(value: Json) -> Json:
    """The value, without the data of pictures and files: what tells them apart is the digest of the whole."""
    if isinstance(value, str):
        return f"{value[:_SHOWN]}… ({len(value)} characters)" if len(value) > _LONGEST and " " not in value else value
    if isinstance(value, dict):
        return {key: cut(item) for key, item in value.items()}
    if isinstance(value, list):
        return [cut(item) for item in value]
    return value
