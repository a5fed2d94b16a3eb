"""How many requests one model is sent at a time: fewer when it says that they are too many, more when it answers."""

from __future__ import annotations

MORE = 0.25
"""What each answer adds. A hundred answers win back what one complaint took from fifty."""


class Pace:
    """Starts at the most that is allowed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._allowed = float(most)
        self._slowed = float("-inf")

    @property
    def allowed(self) -> int:
        """Requests that may be on their way; at least one."""
        return int(self._allowed)

    def answered(self) -> None:
        """The model took a request."""
        self._allowed = min(self._most, self._allowed + MORE)

    def throttled(self, sent: float, now: float, running: int) -> None:
        """The model complained about a request sent at the time `sent`, when `running` were on their way.

        Complaints about requests that were sent before the last slowing are the same complaint.
        """
        if sent >= self._slowed:
            self._allowed = max(1.0, min(self._allowed, running) / 2)
            self._slowed = now
