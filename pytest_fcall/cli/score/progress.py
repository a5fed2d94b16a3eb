"""The number of rows that are judged, while they are."""

from __future__ import annotations

import time
from typing import Final, TextIO

_SECONDS_BETWEEN_UPDATES: Final = 0.25


class Progress:
    """A counter that updates itself on a terminal; silent elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        bare: TextIO = getattr(stream, "bare", stream)
        self._stream = bare if bare.isatty() else None
        self._rows = 0
        self._next = time.monotonic() + _SECONDS_BETWEEN_UPDATES

    def add(self, rows: int) -> None:
        """Add rows, and show the number of all a few times a second."""
        self._rows += rows
        if self._stream is None or (now := time.monotonic()) < self._next:
            return
        self._next = now + _SECONDS_BETWEEN_UPDATES
        print(f"\r{self._rows:,} rows", end="", file=self._stream, flush=True)

    def clear(self) -> None:
        """Remove the counter from the terminal."""
        if self._stream is not None:
            print("\r\x1b[K", end="", file=self._stream, flush=True)
