"""Secrets, recognised by their names, removed from what is written or shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from urllib.parse import parse_qsl, unquote, urlsplit

from pytest_fcall.core.values import Json

_ALWAYS_SECRET = frozenset({"cookie", "extra_headers", "extra_query", "headers"})
"""Nothing under these names is shown."""
_SECRET_PART = re.compile("key|token|secret|password|authorization|credential")
"""A text whose name contains one of these may be a key. A number, such as `max_tokens`, is not."""
_SIMPLE_TYPES = (str, int, float, type(None))
"""Checked first: nearly all values are of these types, and the test for a mapping takes ten times as long."""
LEAST_SEGMENT = 20
"""A path segment of this length may be there so that the address cannot be guessed."""


def without_secrets(settings: Mapping[str, Json]) -> dict[str, Json]:
    """The settings without what is or may hold a key, at any depth."""
    return {name: _public(value) for name, value in settings.items() if not _is_secret(name, value)}


def secrets_in(data: Json, *, secret: bool = False) -> Iterator[str]:
    """The texts, at any depth, under names of secrets; with `secret`, all texts."""
    if isinstance(data, str) and secret:
        yield data
    elif isinstance(data, Mapping):
        for name, value in data.items():
            yield from secrets_in(value, secret=secret or sounds_secret(name))
    elif isinstance(data, list | tuple):
        for item in data:
            yield from secrets_in(item, secret=secret)


def secrets_of_request(url: str, headers: Mapping[str, str], body: Json) -> Iterator[str]:
    """The parts of a request that must not be shown: its address, its headers, and secrets in its body."""
    parts = urlsplit(url)
    in_url = [value for _, value in parse_qsl(parts.query)]
    in_url += [segment for segment in parts.path.split("/") if len(segment) >= LEAST_SEGMENT]
    yield from (url, *in_url, *map(unquote, in_url))
    for value in headers.values():
        yield from (value, *value.split())  # a secret may follow another word, as in `Bearer KEY`
    yield from secrets_in(body)


def _public(value: Json) -> Json:
    if isinstance(value, _SIMPLE_TYPES):
        return value
    if isinstance(value, Mapping):
        return without_secrets(value)
    return [_public(item) for item in value] if isinstance(value, list | tuple) else value


def _is_secret(name: str, value: Json) -> bool:
    if name.lower().replace("-", "_") in _ALWAYS_SECRET:
        return True
    return sounds_secret(name) and any(secrets_in(value, secret=True))


@lru_cache(maxsize=1024)  # the same few names come with each request
def sounds_secret(name: str) -> bool:
    """Whether the name of a setting, a header or a field says that it may hold a key."""
    return _SECRET_PART.search(name.lower()) is not None
