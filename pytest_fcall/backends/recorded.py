"""Replies kept from earlier."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from pytest_fcall.backends.wire import Wire
from pytest_fcall.core import Fault, Reply, Request


@dataclass(frozen=True, slots=True)
class Unread:
    """An answer that an app was given, before anybody has looked what it says."""

    case: str
    digest: str
    request: Request
    path: str
    """What was asked for, below the address of the provider: it tells how the answer is read."""
    wire: Wire
    seconds: float | None
    recorded: str

    @property
    def moment(self) -> float:
        """When it was given, in seconds since 1970."""
        return _moment(self.recorded)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A reply, what it answers, and when it was given."""

    case: str
    digest: str
    request: Request
    reply: Reply
    recorded: str
    """ISO date and time."""
    wire: Wire | None = None
    """Of what an app asked by itself: the reply as its library will want it again."""

    @property
    def moment(self) -> float:
        """When it was recorded, in seconds since 1970; 0 where that is not said."""
        return _moment(self.recorded)


class Recordings:
    """What is recorded for the cases of one file. Never changes; asking costs nothing."""

    def __init__(
        self, entries: Iterable[Recorded] = (), faults: Iterable[Fault] = (), model: str | None = None
    ) -> None:
        self.entries = tuple(entries)
        self.faults = tuple(faults)
        self.model = model
        """The id of the model whose replies these are, where the file names it."""
        self._by_digest = {entry.digest: entry for entry in reversed(self.entries)}
        self._by_case: dict[str, list[Recorded]] = {}
        for entry in self.entries:
            self._by_case.setdefault(entry.case, []).append(entry)

    def find(self, digest: str) -> Recorded | None:
        """Return the reply to the request of this digest."""
        return self._by_digest.get(digest)

    def nearest(self, case: str, sample: int = 0) -> Recorded | None:
        """Return what was recorded for this case when it asked something else, best of the same sample."""
        return min(self._by_case.get(case, ()), key=lambda entry: abs(entry.request.sample - sample), default=None)


def _moment(recorded: str) -> float:
    try:
        return datetime.fromisoformat(recorded).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
