"""Addresses of providers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import urlsplit

KNOWN: Mapping[str, str] = MappingProxyType(
    {"OPENAI_BASE_URL": "https://api.openai.com/v1", "ANTHROPIC_BASE_URL": "https://api.anthropic.com"}
)
"""Where a library asks if a variable says nothing else."""


@lru_cache(maxsize=64)
def is_address(url: str) -> bool:
    """Whether requests can be sent on to it."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
