"""The environment variables that lead an app's libraries to the proxy, and the providers' own addresses."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import urlsplit

PROVIDER_ADDRESSES: Mapping[str, str] = MappingProxyType(
    {"OPENAI_BASE_URL": "https://api.openai.com/v1", "ANTHROPIC_BASE_URL": "https://api.anthropic.com"}
)
"""Where a library asks if a variable says nothing else."""


@lru_cache(maxsize=64)
def is_http_address(url: str) -> bool:
    """Whether requests can be sent on to it."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


PLACEHOLDER_KEY = "sk-replayed"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_variables(written: Iterable[str]) -> dict[str, str]:
    """Names of variables, each with the address that it stands for where nobody sets it: `NAME` or `NAME=URL`.

    Raises ValueError, in words.
    """
    found: dict[str, str] = {}
    for line in written:
        name, _, url = (part.strip() for part in line.partition("="))
        url = url or PROVIDER_ADDRESSES.get(name, "")
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a variable; write OPENAI_BASE_URL, or NAME=https://…")
        if url and not is_http_address(url):
            raise ValueError(f"{name} stands for no address; write it whole, such as https://api.example.com/v1")
        found[name] = url
    return found


def provider_addresses(variables: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Where each variable leads without the proxy; those that lead nowhere are left out."""
    found = {name: environment.get(name, "").strip() or url for name, url in variables.items()}
    return {name: url for name, url in found.items() if is_http_address(url)}


def proxy_addresses(upstream: Mapping[str, str], base: str) -> dict[str, str]:
    """The variables' values that lead to the proxy at `base`, with the paths that they have without it."""
    return {name: f"{base}/{name}{urlsplit(url).path.rstrip('/')}" for name, url in upstream.items()}


def placeholder_keys(names: Iterable[str]) -> dict[str, str]:
    """Keys that are none, so that libraries start that want one."""
    return {
        f"{name.removesuffix('_BASE_URL')}_API_KEY": PLACEHOLDER_KEY for name in names if name.endswith("_BASE_URL")
    }


@contextmanager
def environment_with(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables for a while."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
