"""What a dispatcher is handed, and what it tells about its work."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_fcall.core import Backend, Request


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A request, and who is to answer it."""

    model_id: str
    backend: Backend
    request: Request
    digest: str
    """Names model and request. Jobs of the same digest are one."""


@dataclass(slots=True)
class Figures:
    """How far the work is. Numbers of jobs, but for tokens and retries."""

    submitted: int = 0
    in_flight: int = 0
    """On their way to a model right now. Others wait for their turn, or before they are asked for again."""
    done: int = 0
    failed: int = 0
    retried: int = 0
    """Requests that were sent again."""
    input_tokens: int = 0
    output_tokens: int = 0
    note: str = ""
    """What people should know about the limits: that the shared file cannot be used."""
