"""The tools that an app offers: the same again and again, and most of what it sends."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import lru_cache

from pytest_fcall.backends.openai.fields import items
from pytest_fcall.core import Json, Tool, canonical
from pytest_fcall.schema import SchemaError, tool_from_data


@dataclass(frozen=True, slots=True)
class Offered:
    """What a request has under `tools`, read."""

    text: str
    """Its canonical JSON."""
    tools: tuple[Tool, ...]
    """The functions among them."""
    foreign: tuple[Json, ...]
    """What the provider runs itself."""


NOTHING = Offered("null", (), ())


class _Packed:
    """A key of a cache: equal to what is packed into the same bytes."""

    __slots__ = ("bytes", "it")

    def __init__(self, it: Json) -> None:
        self.it = it
        self.bytes = pickle.dumps(it)  # in a third of the time that JSON takes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Packed) and self.bytes == other.bytes

    def __hash__(self) -> int:
        return hash(self.bytes)


def offered(told: Json) -> Offered:
    """Read them, quickly if they were read lately. Raises ValueError and RecursionError as `canonical` does."""
    return _offered(_Packed(told))


@lru_cache(maxsize=64)
def _offered(packed: _Packed) -> Offered:
    tools: list[Tool] = []
    foreign: list[Json] = []
    for each in items(packed.it):
        try:
            tools.append(tool_from_data(each))
        except (SchemaError, RecursionError):
            foreign.append(each)
    return Offered(canonical(packed.it), tuple(tools), tuple(foreign))
