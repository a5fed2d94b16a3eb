"""Secrets, recognised by their names, left out of what is written or shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from urllib.parse import parse_qsl, unquote, urlsplit

from pytest_fcall.core import Json

_WHOLE = frozenset({"cookie", "extra_headers", "extra_query", "headers"})
"""Nothing under these names is shown."""
_PART = re.compile("key|token|secret|password|authorization|credential")
"""A text under a name with one of these in it may be a key; a number, such as `max_tokens`, is none."""
_SIMPLE = (str, int, float, type(None))
"""Nearly all values are of these kinds, and to tell a mapping takes ten times as long."""
_LONG_STEP = 20
"""A step of an address that is this long may be there so that nobody guesses it."""


def without_secrets(settings: Mapping[str, Json]) -> dict[str, Json]:
    """Leave out, at any depth, what is or may hold a key."""
    return {name: _public(value) for name, value in settings.items() if not _is_secret(name, value)}


def secrets_in(told: Json, *, secret: bool = False) -> Iterator[str]:
    """The texts, at any depth, that stand under names of secrets; with `secret`, all of them."""
    if isinstance(told, str) and secret:
        yield told
    elif isinstance(told, Mapping):
        for name, value in told.items():
            yield from secrets_in(value, secret=secret or _sounds_secret(name))
    elif isinstance(told, list | tuple):
        for item in told:
            yield from secrets_in(item, secret=secret)


def secrets_of_request(url: str, headers: Mapping[str, str], body: Json) -> Iterator[str]:
    """What goes to a server and may be shown nowhere: its address, headers, and what the body has by secret names."""
    parts = urlsplit(url)
    within = [value for _, value in parse_qsl(parts.query)]
    within += [step for step in parts.path.split("/") if len(step) >= _LONG_STEP]
    yield from (url, *within, *map(unquote, within))
    for value in headers.values():
        yield from (value, *value.split())  # a secret may stand behind another word
    yield from secrets_in(body)


def _public(value: Json) -> Json:
    if isinstance(value, _SIMPLE):
        return value
    if isinstance(value, Mapping):
        return without_secrets(value)
    return [_public(item) for item in value] if isinstance(value, list | tuple) else value


def _is_secret(name: str, value: Json) -> bool:
    if name.lower().replace("-", "_") in _WHOLE:
        return True
    return _sounds_secret(name) and any(secrets_in(value, secret=True))


@lru_cache(maxsize=1024)  # the same few names come with each request
def _sounds_secret(name: str) -> bool:
    return _PART.search(name.lower()) is not None
