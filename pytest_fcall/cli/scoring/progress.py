"""How far the work is, for somebody who watches."""

from __future__ import annotations

import time
from typing import TextIO

_SECONDS = 0.25


class Progress:
    """A line that renews itself; silent where nobody watches."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream if stream.isatty() else None
        self._next = time.monotonic() + _SECONDS

    def show(self, rows: int) -> None:
        """Say how many rows are done, a few times a second."""
        if self._stream is None or (now := time.monotonic()) < self._next:
            return
        self._next = now + _SECONDS
        print(f"\r{rows:,} rows", end="", file=self._stream, flush=True)

    def leave(self) -> None:
        """Take the line away."""
        if self._stream is not None:
            print("\r\x1b[K", end="", file=self._stream, flush=True)
