"""The run of an app, for the tests that wait for its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, overload

from pytest_fcall.session.ask.types import AppTrace

if TYPE_CHECKING:
    from pytest_fcall.backends.proxy.app_run import AppRun
    from pytest_fcall.backends.proxy.detours import Detour
    from pytest_fcall.core.app import AppExchange


class ActiveRun(Sequence["AppExchange"]):
    """The requests in a run of an app, and the number of tests that wait for it.

    The run is made with the first request that the app sends, since most apps under test send none.
    """

    __slots__ = ("_make", "_over", "detours", "origin", "run", "token", "users")

    def __init__(self, make: Callable[[], AppRun], origin: tuple[str, str, str, int]) -> None:
        self._make = make
        self.origin = origin
        """The app, the file, the case and the number of the answer."""
        self._over = False
        self.run: AppRun | None = None
        self.token = ""
        self.users = 0
        self.detours: Sequence[Detour] = ()
        """Connections that went around the proxy."""

    def __call__(self) -> AppRun:
        """The run. Called by the thread of the proxy, which takes one request at a time."""
        if self.run is None:
            self.run = self._make()
            self.run.over = self._over
        return self.run

    def end(self) -> None:
        """Note that what is answered from now on is too late for the verdict."""
        self._over = True
        if self.run is not None:
            self.run.over = True

    def trace(self) -> AppTrace:
        """The trace of the app so far."""
        detours = tuple(dict.fromkeys(detour.text for detour in self.detours))
        if self.run is None:
            return AppTrace((), "unseen", detours)
        return AppTrace(tuple(self), "proxy", detours, self.run.faults)

    def __len__(self) -> int:
        return len(self.run.inner_requests) if self.run else 0

    @overload
    def __getitem__(self, index: int) -> AppExchange: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[AppExchange]: ...

    def __getitem__(self, index: int | slice) -> AppExchange | Sequence[AppExchange]:
        return (self.run.inner_requests if self.run else ())[index]
