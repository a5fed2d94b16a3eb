"""Ends a server whose keeper has died: a script, which reads the server's process group from stdin.

The keeper holds the other end of stdin, which the system closes when the keeper dies. If the keeper ends the server
itself, it then ends this process. Imports only the standard library, because each server has one such process.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress

_TERMINATE_SECONDS = 5.0
_POLL_SECONDS = 0.05


def main() -> None:
    """Wait for the end of the keeper, then end the process group."""
    group = sys.stdin.readline().strip()
    sys.stdin.read()
    if group.isdigit():
        _end_group(int(group))


def _end_group(group: int) -> None:
    """Terminate all processes of the group, wait for its leader, and kill the rest."""
    if not hasattr(os, "killpg"):
        os.kill(group, signal.SIGTERM)  # on Windows this kills at once
        return
    deadline = time.monotonic() + _TERMINATE_SECONDS
    with suppress(OSError):
        os.killpg(group, signal.SIGTERM)
        while time.monotonic() < deadline:
            os.kill(group, 0)
            time.sleep(_POLL_SECONDS)
    with suppress(OSError):
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
