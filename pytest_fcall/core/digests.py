"""Stable digests of requests and tools, and keys of caches that compare objects by identity."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, Generic, TypeVar

from pytest_fcall.core.json_data import JsonEncoder
from pytest_fcall.core.request import Request, Tool
from pytest_fcall.core.values import Json, Message

T = TypeVar("T")
R = TypeVar("R")

_CANONICAL: Final = JsonEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical(value: Json) -> str:
    """Give the canonical JSON text of a value: sorted keys, no white space, ASCII only.

    Raises ValueError for NaN and infinities.
    """
    return _CANONICAL.encode(value)


def same_json(one: Json, other: Json) -> bool:
    """Give whether two values have the same canonical text: 1, 1.0 and true are different."""
    return canonical(one) == canonical(other)


def digest(value: Json) -> str:
    """Give the SHA-256 of the canonical text, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode("ascii")).hexdigest()


def kept_by_identity(most: int) -> Callable[[Callable[[T], R]], Callable[[T], R]]:
    """Keep the results of a function of one object, for the same object again: of `most` objects at a time.

    `lru_cache` needs a key that compares by identity, which costs three calls of Python where this costs one.
    """

    def keeping(compute: Callable[[T], R]) -> Callable[[T], R]:
        kept: dict[int, tuple[T, R]] = {}  # with the objects, so that their ids stay unique

        def find(value: T) -> R:
            if found := kept.get(id(value)):
                return found[1]
            result = compute(value)
            if len(kept) >= most:
                kept.clear()
            kept[id(value)] = value, result
            return result

        return find

    return keeping


def request_digest(model: str, request: Request) -> str:
    """Give the digest of a model and a request, which is the key of a recording.

    It does not depend on the process, the version of Python or the order of keys. The clock is left out, since the
    messages have what depends on it, and so are paths of images, which have the digest of the content beside them.
    """
    settings = canonical(request.settings) if request.settings else "{}"
    parts = (
        f'{{"messages":{canonical_messages(request.messages)},"model":{_name_text(model)},"sample":{request.sample}',
        f',"settings":{settings},"tools":"{catalogue_digest(request.tools)}"}}',
    )
    return hashlib.sha256("".join(parts).encode("ascii")).hexdigest()


@lru_cache(maxsize=64)
def _name_text(model: str) -> str:
    return canonical(model)


def canonical_messages(messages: Sequence[Message]) -> str:
    """Give the canonical text of messages without paths. Several digests of one request cover them."""
    if type(messages) is not tuple:  # of a hook, which may put other messages into the same list
        return _messages_text(messages)
    return _kept_messages_text(messages)


def _messages_text(messages: Sequence[Message]) -> str:
    return canonical([without_paths(message) for message in messages])


_kept_messages_text = kept_by_identity(most=16)(_messages_text)


def request_texts(request: Request) -> dict[str, Json]:
    """Give all that the digest of a request covers but its number, written out as JSON."""
    return {
        "messages": [without_paths(message) for message in request.messages],
        "tools": [_as_sent(tool) for tool in request.tools],
        "settings": request.settings,
    }


def catalogue_digest(tools: Sequence[Tool]) -> str:
    """Give the digest of the tools as the model sees them, in their order.

    The cases of a file share one tuple of tools, whose digest is computed once.
    """
    return _catalogue_digest(tuple(tools))


@kept_by_identity(most=1024)
def _catalogue_digest(tools: tuple[Tool, ...]) -> str:
    return digest([_as_sent(tool) for tool in tools])


def _as_sent(tool: Tool) -> Json:
    returns = {} if tool.returns is None else {"returns": tool.returns}
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters, **returns}


def without_paths(value: Json) -> Json:
    """Give a message, or a part of one, without the paths of its images, which differ between machines."""
    if isinstance(value, str):
        return value
    if isinstance(value, (dict, Mapping)):  # the test for a mapping takes ten times as long
        if value.get("type") == "image_file" and isinstance(image := value.get("image_file"), Mapping):
            return {"type": "image_file", "sha256": image.get("sha256"), "media_type": image.get("media_type")}
        return {key: without_paths(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [without_paths(item) for item in value]
    return value


class IdentityKey(Generic[T]):
    """An object as the key of a cache, equal only to itself and kept alive, so that its id stays unique."""

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IdentityKey) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
