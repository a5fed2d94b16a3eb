"""What a back end that does the work itself tells of it."""

from __future__ import annotations

from collections.abc import Callable

from pytest_fcall.core import Backend


def figures_of(backend: Backend) -> tuple[int, str] | None:
    """How many requests were answered, and at what speed in words, if the back end has a method `figures` to say so.

    Workers share what does the work: of all that they are told, the account of the most requests is the last.
    """
    figures: Callable[[], tuple[int, str] | None] | None = getattr(backend, "figures", None)
    return figures() if figures else None
