"""Ends a server whose keeper has died: a script, which reads the server's process group from stdin.

The keeper holds the other end of stdin, which the system closes however the keeper dies. Where the keeper ends the
server itself, it then ends this process. Only the standard library is imported: there is one process a server.
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
    """Wait for the keeper's end, and end the group that it has named."""
    named = sys.stdin.readline().strip()
    sys.stdin.read()
    if named.isdigit():
        _end_group(int(named))


def _end_group(group: int) -> None:
    """Ask all of it to end, wait for whom it is named after, and leave nothing of it."""
    if not hasattr(os, "killpg"):
        os.kill(group, signal.SIGTERM)  # which leaves no time to anybody there
        return
    last = time.monotonic() + _TERMINATE_SECONDS
    with suppress(OSError):
        os.killpg(group, signal.SIGTERM)
        while time.monotonic() < last:
            os.kill(group, 0)
            time.sleep(_POLL_SECONDS)
    with suppress(OSError):
        os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
