"""How much may be asked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Limits:
    """What a dispatcher keeps to. Raises ValueError, in words, for what makes no sense."""

    concurrency: int = 64
    """Requests on their way at the same time, from this process."""
    rpm: int | None = None
    """Requests to one model in any minute."""
    tpm: int | None = None
    """Tokens, in and out, of one model in any minute: estimated until the reply says how many there were."""
    timeout: float | None = None
    """Seconds that one request may take, whatever its back end allows; None leaves that to the back end."""
    retries: int = 5
    """How often a request is asked for again."""
    budget: float = 900.0
    """Seconds from the first try of a request to its last."""
    shared: Path | None = None
    """The file through which processes keep to rpm, tpm and Retry-After together; None where there is one process."""

    def __post_init__(self) -> None:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        for name in ("concurrency", "rpm", "tpm"):
            if values[name] is not None and values[name] < 1:
                raise ValueError(f"{name} must be at least 1, not {values[name]}")
        for name in ("timeout", "retries", "budget"):
            if values[name] is not None and not values[name] >= 0:
                raise ValueError(f"{name} must not be negative: {values[name]}")
