"""Limits on memory and files, which POSIX has."""

from __future__ import annotations

import resource
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_fcall.conversation.execution.walls.orders import Walls

_MOST_FILES = 256


def limit_resources(walls: Walls) -> None:
    """Bound address space, sizes and number of files, and leave no core dumps, as far as the kernel knows of it."""
    for kind, most in (
        (resource.RLIMIT_AS, walls.memory),
        (resource.RLIMIT_FSIZE, walls.file),
        (resource.RLIMIT_NOFILE, _MOST_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with suppress(ValueError, OSError):  # macOS refuses some bounds on address space
            resource.setrlimit(kind, (least, least))
