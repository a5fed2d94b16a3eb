"""The base of backends that wrap another backend; the throughput that a backend reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_fcall.core import Backend, Json, Request, request_changes


def throughput_of(backend: Backend) -> tuple[int, str] | None:
    """How many requests were answered, and at what speed in words, if the back end has a method `figures` to say so.

    Workers share what does the work: of all that they are told, the account of the most requests is the last.
    """
    figures: Callable[[], tuple[int, str] | None] | None = getattr(backend, "figures", None)
    return figures() if figures else None


@dataclass(frozen=True, slots=True)
class BackendWrapper:
    """Like `backend` in all but how it answers, which is for those that derive from this."""

    backend: Backend

    @property
    def settings(self) -> Mapping[str, Json]:
        """As the back end's."""
        return self.backend.settings

    @property
    def reusable(self) -> bool:
        """As the back end's."""
        return self.backend.reusable

    @property
    def ahead(self) -> bool:
        """As the back end's."""
        return self.backend.ahead

    def changes(self, request: Request) -> Sequence[str]:
        """As the back end's: what it does to a request before it sends it."""
        return request_changes(self.backend, request)

    def figures(self) -> tuple[int, str] | None:
        """As the back end's: what it has done so far."""
        return throughput_of(self.backend)

    async def close(self) -> None:
        """Close the back end, and nothing that others may use."""
        await self.backend.close()


def innermost(backend: Backend) -> Backend:
    """The back end that answers in the end, behind all that stands before it."""
    while isinstance(backend, BackendWrapper):
        backend = backend.backend
    return backend
