"""The base of backends that wrap another backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fcall.core.backend import Backend, app_note, check_backend, request_changes, throughput_of
from pytest_fcall.core.request import Request
from pytest_fcall.core.values import Json

POLL_SECONDS = 0.05
"""Seconds until a wrapper that waits for other requests checks again."""


@dataclass(frozen=True, slots=True)
class BackendWrapper:
    """Equals `backend` in all but `complete`, which derived classes define."""

    backend: Backend

    @property
    def settings(self) -> Mapping[str, Json]:
        """The settings of the wrapped backend."""
        return self.backend.settings

    @property
    def reusable(self) -> bool:
        """Whether replies of the wrapped backend may be replayed."""
        return self.backend.reusable

    @property
    def ahead(self) -> bool:
        """Whether the wrapped backend may be asked before a test needs the reply."""
        return self.backend.ahead

    def check(self) -> None:
        """Raise ModelUnavailable where the wrapped backend can answer no request."""
        check_backend(self.backend)

    def changes(self, request: Request) -> Sequence[str]:
        """The changes that the wrapped backend makes in a request before it sends it."""
        return request_changes(self.backend, request)

    def throughput(self) -> tuple[int, str] | None:
        """The throughput of the wrapped backend."""
        return throughput_of(self.backend)

    def note(self) -> str:
        """The differences between the wrapped app and the cases."""
        return app_note(self.backend)

    async def close(self) -> None:
        """Close the wrapped backend only: what a wrapper uses besides may be shared."""
        await self.backend.close()


def innermost(backend: Backend) -> Backend:
    """The backend behind all wrappers."""
    while isinstance(backend, BackendWrapper):
        backend = backend.backend
    return backend
