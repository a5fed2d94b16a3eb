"""Taking a few things at a time from the network."""

from __future__ import annotations

from collections import deque
from selectors import DefaultSelector, SelectorKey

_AT_ONCE = 2
"""Fewer cost the loop more rounds, and replies more transactions; with more, calls wait longer for each other."""


class InTurn(DefaultSelector):
    """Tells an event loop of a few ready sockets at a time, in the order in which they were found ready.

    A loop takes all that it is told of one step further, then all of them the next step. So of many calls that come
    at once the first is done hardly before the last; and as they leave together, their answers come together, and so
    on for ever. Where the first are done first, calls draw apart and soon have nobody to wait for.
    """

    def __init__(self) -> None:
        super().__init__()
        self._found: deque[tuple[SelectorKey, int]] = deque()

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        """The next that are ready; the system is asked again once all that it told of have had their turn."""
        if not self._found:
            self._found.extend(super().select(timeout))
        turn = [self._found.popleft() for _ in range(min(_AT_ONCE, len(self._found)))]
        known = self.get_map()
        # What was closed since then, or is waited for otherwise, has another key or none.
        return [(key, events) for key, events in turn if known.get(key.fd) is key]
