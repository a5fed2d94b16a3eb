"""The environment variables that lead an app's libraries to the proxy, and the providers' own addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import urlsplit

PROVIDER_ADDRESSES: Mapping[str, str] = MappingProxyType(
    {"OPENAI_BASE_URL": "https://api.openai.com/v1", "ANTHROPIC_BASE_URL": "https://api.anthropic.com"}
)
"""The addresses that libraries use if the variables are not set."""
PLACEHOLDER_KEY = "sk-replayed"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@lru_cache(maxsize=64)
def is_http_address(url: str) -> bool:
    """Whether requests can be sent to this URL."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def read_variables(lines: Iterable[str]) -> dict[str, str]:
    """Read lines `NAME` or `NAME=URL`: the address that each variable has if it is not set.

    Raises ValueError, with a message for people.
    """
    variables: dict[str, str] = {}
    for line in lines:
        name, _, url = (part.strip() for part in line.partition("="))
        url = url or PROVIDER_ADDRESSES.get(name, "")
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a variable name; write OPENAI_BASE_URL, or NAME=https://…")
        if url and not is_http_address(url):
            raise ValueError(f"{name} has no valid URL; write it in full, such as https://api.example.com/v1")
        variables[name] = url
    return variables


def provider_addresses(variables: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """The address of each variable without the proxy. Variables without an address are left out."""
    addresses = {name: environment.get(name, "").strip() or url for name, url in variables.items()}
    return {name: url for name, url in addresses.items() if is_http_address(url)}


def proxy_addresses(providers: Mapping[str, str], base: str) -> dict[str, str]:
    """The values with which the variables lead to the proxy at `base`, each with the path of its provider."""
    return {name: f"{base}/{name}{urlsplit(url).path.rstrip('/')}" for name, url in providers.items()}


def placeholder_keys(names: Iterable[str]) -> dict[str, str]:
    """Invalid keys for libraries that do not start without a key."""
    return {
        f"{name.removesuffix('_BASE_URL')}_API_KEY": PLACEHOLDER_KEY for name in names if name.endswith("_BASE_URL")
    }
