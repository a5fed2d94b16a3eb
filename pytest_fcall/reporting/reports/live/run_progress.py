"""The progress of a run, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pytest_fcall.reporting.results import Result


class Requests(NamedTuple):
    """The requests to models, of all processes of the run."""

    in_flight: int = 0
    """Those that are being answered right now."""
    done: int = 0
    failed: int = 0
    retried: int = 0
    """Those that were sent again."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A run at one moment."""

    written: float
    """The moment, in seconds since 1970."""
    seconds: float
    """The time that tests have run by now."""
    done: int
    """The number of tests that have ended, plain tests included."""
    total: int | None = None
    """The number of tests; None where it is not known yet."""
    ended: bool = False
    results: Sequence[Result] = ()
    running: Sequence[tuple[str, float]] = ()
    """The tests that are at work, and since how many seconds, longest first."""
    requests: Requests = field(default_factory=Requests)
    errors: Mapping[str, int] = field(default_factory=dict)
    """The faults besides wrong answers, in a line each, with their number."""

    @property
    def seconds_left(self) -> float | None:
        """The projection of how long it will still take: as if the other tests took as long as those that ended."""
        if self.ended or not self.total or not self.done:
            return None
        return self.seconds * max(self.total - self.done, 0) / self.done
