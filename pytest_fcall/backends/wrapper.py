"""The base of backends that wrap another backend, and the throughput that a backend reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_fcall.core import Backend, Json, Request, request_changes


def throughput_of(backend: Backend) -> tuple[int, str] | None:
    """The number of answered requests and a text about their speed, from the backend's optional method `throughput`.

    Workers share the process that does the work, so the report with the most requests is the latest.
    """
    throughput: Callable[[], tuple[int, str] | None] | None = getattr(backend, "throughput", None)
    return throughput() if throughput else None


@dataclass(frozen=True, slots=True)
class BackendWrapper:
    """Passes everything but `complete` on to `backend`; derived classes add that method."""

    backend: Backend

    @property
    def settings(self) -> Mapping[str, Json]:
        """The settings of the wrapped backend."""
        return self.backend.settings

    @property
    def reusable(self) -> bool:
        """Whether the wrapped backend is reusable."""
        return self.backend.reusable

    @property
    def ahead(self) -> bool:
        """Whether the wrapped backend may be asked ahead."""
        return self.backend.ahead

    def changes(self, request: Request) -> Sequence[str]:
        """What the wrapped backend changes in a request before it sends it."""
        return request_changes(self.backend, request)

    def throughput(self) -> tuple[int, str] | None:
        """The throughput of the wrapped backend."""
        return throughput_of(self.backend)

    async def close(self) -> None:
        """Close the wrapped backend."""
        await self.backend.close()


def innermost(backend: Backend) -> Backend:
    """The backend inside all wrappers."""
    while isinstance(backend, BackendWrapper):
        backend = backend.backend
    return backend
