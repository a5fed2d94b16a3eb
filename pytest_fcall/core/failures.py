"""Why there is no reply. The text of each is one line for people, and says what to do."""

from __future__ import annotations


class ModelUnavailable(Exception):
    """No request can be answered by this model: bad key, unknown name, module not found. The text says what to do."""


class CaseRefused(Exception):
    """This request can never be answered, though others can: too long for the model, stopped by a filter."""


class Unanswered(Exception):
    """No reply came, though one may when it is asked for again: the network failed, or a server was busy or broken."""

    def __init__(self, text: str, *, retry_after: float | None = None, throttled: bool = False) -> None:
        super().__init__(text)
        self.retry_after = retry_after
        """Seconds to wait, where the server says so."""
        self.throttled = throttled
        """Whether there were too many requests."""
