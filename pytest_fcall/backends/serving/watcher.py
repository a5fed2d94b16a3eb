"""Ends a server when its keeper is gone: a script, told the server's process group on stdin.

The keeper holds the other end of stdin, which the system closes however the keeper dies. Where it ends its server
itself, it ends this process after that. Nothing but the standard library is imported: it is a process for each server.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress

_GRACE = 5.0
_LOOKING = 0.05


def main() -> None:
    """Wait for the keeper's end, and end the group that it has named."""
    named = sys.stdin.readline().strip()
    sys.stdin.read()
    if named.isdigit():
        _end(int(named))


def _end(group: int) -> None:
    """Ask all of it to end, wait for whom it is named after, and leave nothing of it."""
    if not hasattr(os, "killpg"):
        os.kill(group, signal.SIGTERM)  # which leaves no time to anybody there
        return
    last = time.monotonic() + _GRACE
    with suppress(OSError):
        os.killpg(group, signal.SIGTERM)
        while time.monotonic() < last:
            os.kill(group, 0)
            time.sleep(_LOOKING)
    with suppress(OSError):
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
