"""An app at work on one case, and what it asks of models meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pytest_fcall.backends.proxy.inside import Inside
from pytest_fcall.backends.recorded import Recorded, Unread
from pytest_fcall.backends.wire import Wire
from pytest_fcall.core import Inner, digest

if TYPE_CHECKING:
    from pytest_fcall.backends.metered import Bill
    from pytest_fcall.backends.proxy.asked import Asked


class Tape(Protocol):
    """What was recorded for one case. Called by the thread of the proxy."""

    def find(self, digest: str) -> Recorded | None:
        """The reply that is to be given again for a request; None where a provider is to be asked."""
        ...

    def all(self) -> Iterable[Recorded]:
        """All that there is for the case."""
        ...


class Purse(Protocol):
    """Money for what apps ask. Called by the thread of the proxy."""

    def paying(self, asked: Asked, provider: str) -> AbstractAsyncContextManager[Bill]:
        """Hold what it can cost, and settle what it did cost. Raises ModelUnavailable where it cannot be paid."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """Whose requests they are. Equal requests from two places are two requests."""

    model: str
    """Under whose name replies are kept."""
    file: str
    case: str
    sample: int = 0


class Taken(NamedTuple):
    """A request with its number among its equals, and the name that its reply is kept by."""

    asked: Asked
    number: int
    name: str
    """Its own and that of its equals."""
    digest: str


@dataclass(slots=True)
class AppRun:
    """What one app asks for one case. Safe with the threads of the app and of the proxy."""

    place: Place
    tape: Tape
    live: bool
    """Whether providers may be asked for what is not recorded."""
    upstreams: Mapping[str, str]
    """The addresses of the providers, by the variables that lead to them."""
    purse: Purse | None = None
    """Who pays, where that is limited."""
    inside: Inside = field(default_factory=Inside)
    """What was asked and answered."""
    missing: list[str] = field(default_factory=list)
    """Why requests could not be answered, in words."""
    unkept: list[str] = field(default_factory=list)
    """Why replies could not be kept, in words."""
    unpaid: list[str] = field(default_factory=list)
    """Why requests could not be paid, in words."""
    _busy: set[tuple[str, int]] = field(default_factory=set)
    """The numbers that are taken, by names."""
    _lock: Lock = field(default_factory=Lock)

    def take(self, asked: Asked) -> Taken:
        """Number a request among its equals, in the order in which they come."""
        place = self.place
        name = digest([asked.digest, place.model, place.file, place.case, place.sample])
        with self._lock:
            number = next(number for number in count() if (name, number) not in self._busy)
            self._busy.add((name, number))
        return Taken(asked, number, name, digest([name, number]))

    def give_up(self, taken: Taken) -> None:
        """Free the number of a request that failed: when it is sent again, it is still the same one."""
        with self._lock:
            self._busy.discard((taken.name, taken.number))

    def replayed(self, taken: Taken) -> Wire | None:
        """The recorded reply to a request, which counts as one that the app has asked."""
        found = self.tape.find(taken.digest)
        if found is None or found.wire is None:
            return None
        asked = taken.asked
        self.inside.add(Inner(asked.model, found.request, found.reply, asked.priced_as, found.moment))
        return found.wire

    def paying(self, taken: Taken, provider: str) -> AbstractAsyncContextManager[Bill]:
        """Pay for a request, if a model is to answer it and somebody counts the money. Raises ModelUnavailable."""
        from pytest_fcall.backends.metered import Bill

        if self.purse is None or not taken.asked.model:
            return nullcontext(Bill())
        return self.purse.paying(taken.asked, provider)

    def answered(self, taken: Taken, wire: Wire, seconds: float) -> Unread:
        """Note what the app is given; it is kept like this."""
        request = taken.asked.request(taken.number)
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        unread = Unread(self.place.case, taken.digest, request, taken.asked.path, wire, seconds, now)
        self.inside.add_unread(taken.asked.model, taken.asked.priced_as, unread)
        return unread

    def lacks(self, taken: Taken) -> str:
        """Note that there is no reply, and say what is new about the request."""
        from pytest_fcall.backends.proxy.nearest import explain_new

        request = taken.asked.request(taken.number)
        asked = taken.asked.model or f"{taken.asked.method} {taken.asked.path}"
        number = len(self.inside) + 1
        text = f"request {number} to {asked} is not recorded\n{explain_new(request, self.tape.all())}"
        self.missing.append(text)
        return text
