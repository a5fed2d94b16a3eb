"""What ends a server whose keeper cannot any more, since it was killed."""

from __future__ import annotations

import asyncio
import sys
from typing import cast

from pytest_fcall.backends.serving import watcher


class Leash:
    """A process that outlives its keeper for as long as it takes to end the server."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    def hold(self, group: int) -> None:
        """End this process group if the keeper dies before it lets go."""
        cast("asyncio.StreamWriter", self._process.stdin).write(f"{group}\n".encode())

    async def let_go(self) -> None:
        """Leave the server alone: it is there no more."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


async def leash() -> Leash:
    """Make one. Raises OSError where there can be no more processes."""
    return Leash(
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", watcher.__file__),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # whoever ends the keeper's group would end it, too
        )
    )
