"""What stands before a back end, and is one itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fcall.backends.working import figures_of
from pytest_fcall.core import Backend, Json, Request, changes_of


@dataclass(frozen=True, slots=True)
class Before:
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
        return changes_of(self.backend, request)

    def figures(self) -> tuple[int, str] | None:
        """As the back end's: what it has done so far."""
        return figures_of(self.backend)

    async def close(self) -> None:
        """Close the back end, and nothing that others may use."""
        await self.backend.close()


def behind(backend: Backend) -> Backend:
    """The back end that answers in the end, behind all that stands before it."""
    while isinstance(backend, Before):
        backend = backend.backend
    return backend
