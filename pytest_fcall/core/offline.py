"""Requests that are answered elsewhere: bodies for files, and answers that come back in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from pytest_fcall.core.backend import Backend
    from pytest_fcall.core.reply import Reply
    from pytest_fcall.core.request import Request
    from pytest_fcall.core.values import Json


class OfflineBody(NamedTuple):
    """The body of a request as its backend would send it."""

    path: str
    """The path below the address of the provider, such as `/v1/chat/completions`."""
    body: Mapping[str, Json]


class OfflineBackend(Protocol):
    """A backend whose requests others can send for it."""

    async def offline_body(self, request: Request) -> OfflineBody:
        """Give the body of a request; nothing is sent. Raises CaseRefused."""
        ...

    async def offline_reply(self, request: Request, status: int, body: bytes) -> Reply:
        """Read the provider's answer to such a body. Raises as `Backend.complete` does."""
        ...


def offline_backend(backend: Backend) -> OfflineBackend | None:
    """Give the backend as one whose requests others can send, if it is one. It wraps no other backend."""
    return cast("OfflineBackend", backend) if hasattr(backend, "offline_body") else None
