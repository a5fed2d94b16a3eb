"""The server to which a back end would send a request: for engines that send it another time, and in another way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

BatchInterface: TypeAlias = Literal["openai", "anthropic", "gemini"]
"""An interface for batches, by the provider that has designed it."""


@dataclass(frozen=True, slots=True)
class BatchServer:
    """A server that takes batches, with the key and the headers of requests that are sent at once."""

    interface: BatchInterface
    url: str
    """The address before the paths of the interface, such as `https://api.openai.com/v1`."""
    headers: Mapping[str, str] = field(repr=False)
    """The key, and what the model's entry or the case adds."""
    query: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The query that the address of the model has, such as the version of an API."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    key_variable: str = "that holds it"
