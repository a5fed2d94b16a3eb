"""An outage: a model gives no answers, and at some point it makes no sense to go on asking."""

from __future__ import annotations

from pytest_fcall.core import Unanswered

RETURN_SECONDS = 10.0
"""Seconds in which a server that is out of reach may come back, such as one that is started again."""
MOST_LOST = 20
"""Requests in a row that may be given up. Each was sent several times, so that chance and bad requests do not add up
to as many."""


class Outage:
    """The failures of requests to one model since its last answer. Belongs to the event loop."""

    def __init__(self) -> None:
        self.answers = 0
        """Requests that the model accepted, whatever the answer was."""
        self._lost = 0
        """Requests that were given up."""
        self._unreachable_since: float | None = None

    @property
    def has_begun(self) -> bool:
        """Whether a request was given up and none was ever answered. Then one attempt is enough for each request."""
        return bool(self._lost) and not self.answers

    @property
    def is_unreachable(self) -> bool:
        """Whether no connection was made since one was refused."""
        return self._unreachable_since is not None

    def answered(self) -> None:
        """Note that the model accepted a request."""
        self.answers += 1
        self._lost = 0
        self._unreachable_since = None

    def failed(self, error: Unanswered, now: float) -> None:
        """Note that an attempt has failed."""
        if not error.unreachable:
            self._unreachable_since = None
        elif self._unreachable_since is None:
            self._unreachable_since = now

    def may_pass(self, now: float) -> bool:
        """Whether a server that has answered before is out of reach for a short time only."""
        return self.answers > 0 and self.is_unreachable and not self.lasts(now)

    def lasts(self, now: float) -> bool:
        """Whether the server is out of reach for so long that no request is worth another attempt."""
        since = self._unreachable_since
        return since is not None and now - since >= RETURN_SECONDS

    def lost(self, error: Unanswered) -> str:
        """Note that a request was given up, and return why no other should be sent; empty if others may be."""
        if error.throttled:
            return ""
        self._lost += 1
        if error.unreachable:
            return str(error)
        return f"{self._lost} requests in a row got no answer; the last: {error}" if self._lost >= MOST_LOST else ""
