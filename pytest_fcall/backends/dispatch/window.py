"""The last minute of one model: how much was asked, and when more may be."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Self

SPAN = 62.0
"""Seconds for which a request counts.

Requests are counted by whole seconds, so that 61 of these cover any minute; one more is left for requests that
take longer to the server than others do.
"""

LONGEST_BLOCK = 3600.0
"""A time to wait for that lies further ahead was written before a clock was set back."""


@dataclass(slots=True)
class Window:
    """Requests and tokens by the second in which they were let through. Times are seconds since 1970."""

    blocked: float = 0.0
    """Nothing may be asked before this time, for the server said so."""
    seconds: dict[int, tuple[int, int]] = field(default_factory=dict)

    def take(self, now: float, tokens: int, rpm: int | None, tpm: int | None) -> float:
        """Let one request through, and return 0; else return the seconds after which to try again."""
        self.seconds = {second: used for second, used in self.seconds.items() if abs(now - second) < SPAN}
        if self.blocked > now + LONGEST_BLOCK:
            self.blocked = 0.0
        if (wait := self._wait(now, tokens, rpm, tpm)) > 0:
            return wait
        if rpm is not None or tpm is not None:
            self._count(int(now), 1, tokens)
        return 0.0

    def settle(self, taken: float, tokens: int) -> None:
        """Count so many tokens more, or fewer, for a request that was let through at the time `taken`."""
        if int(taken) in self.seconds:
            self._count(int(taken), 0, tokens)

    def block(self, until: float) -> None:
        """Let nothing through before that time."""
        self.blocked = max(self.blocked, until)

    def _count(self, second: int, requests: int, tokens: int) -> None:
        counted = self.seconds.get(second, (0, 0))
        self.seconds[second] = (counted[0] + requests, max(0, counted[1] + tokens))

    def _wait(self, now: float, tokens: int, rpm: int | None, tpm: int | None) -> float:
        """Go back in time to the second that must be over first."""
        wait = max(0.0, self.blocked - now)
        requests, used = 1, tokens
        for second in sorted(self.seconds, reverse=True):
            requests += self.seconds[second][0]
            used += self.seconds[second][1]
            if (rpm is not None and requests > rpm) or (tpm is not None and used > tpm):
                return max(wait, second + SPAN - now)
        return wait

    def to_text(self) -> str:
        """Say it in JSON."""
        return json.dumps([self.blocked, [[second, *used] for second, used in self.seconds.items()]])

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read what `to_text` wrote. Anything else is a window in which nothing was asked yet."""
        try:
            blocked, rows = json.loads(text)
            return cls(float(blocked), {int(row[0]): (int(row[1]), int(row[2])) for row in rows})
        except (ValueError, TypeError, LookupError, OverflowError, RecursionError):
            return cls()
