"""What keeps a process inside: what the operating system refuses, and what Python does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pytest_fcall.conversation.execution.walls.hook import raise_hook

if TYPE_CHECKING:
    from pytest_fcall.conversation.execution.walls.orders import Walls


def raise_walls(walls: Walls) -> list[str]:
    """Keep this process inside for good; name what holds. Nothing may run before that is not to be kept inside."""
    raised: list[str] = []
    if sys.platform != "win32":
        from pytest_fcall.conversation.execution.walls.resources import limit_resources

        limit_resources(walls)
        raised.append("resources")
    if sys.platform == "linux":
        from pytest_fcall.conversation.execution.walls.landlock import raise_landlock
        from pytest_fcall.conversation.execution.walls.seccomp import raise_seccomp

        raised += [name for name, wall in (("landlock", raise_landlock), ("seccomp", raise_seccomp)) if wall(walls)]
    raise_hook(walls)
    return [*raised, "hook"]
