"""Replies on their way into the store. Where it cannot take them, they wait: none is paid for in vain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_fcall.backends.store import NewReply, ReplyStore, StoreError


class PendingReplies:
    """Writes replies into the store. Those that it does not take wait here, and in a file apart, for another try.

    From then on nothing more is to be asked for. Safe with threads.
    """

    def __init__(self, store: Callable[[], ReplyStore]) -> None:
        self._store = store
        self._lock = Lock()
        self._tried_out = False
        self._waiting: list[NewReply] = []
        self.fault: StoreError | None = None
        """The error of a store that takes nothing; None while it does, as far as that is known."""
        self._rescued: Path | None = None
        """The file with what waits."""

    def check(self) -> None:
        """Raise StoreError if the store takes nothing. It is tried out once, before anything is asked for."""
        if self._tried_out and self.fault is None:
            return
        from pytest_fcall.backends.store import StoreError

        with self._lock:
            if not self._tried_out:
                self._tried_out = True
                try:
                    self._store().try_out()
                except StoreError as error:
                    self.fault = error
            if self.fault is not None:
                raise self.fault

    def put(self, replies: Sequence[NewReply]) -> None:
        """Write replies into the store, or else let them wait."""
        from pytest_fcall.backends.store import StoreError

        with self._lock:
            try:
                self._store().put_all([*self._waiting, *replies])
            except StoreError as error:
                self.fault = error
                self._waiting += replies
                if replies or self._rescued is None:
                    self._rescue()
            else:
                self._taken()

    def notes(self) -> list[str]:
        """A sentence on replies that still wait, after another try."""
        self._try_again()
        if not self._waiting:
            return []
        count = f"{len(self._waiting):,} {'reply waits' if len(self._waiting) == 1 else 'replies wait'}"
        if self._rescued is None:
            return [f"{self.fault}; {count} for it in vain, as no other file could be written, and will be lost"]
        return [f"{self.fault}; {count} for it in {self._rescued}: {self._way_back()}"]

    def close(self) -> None:
        """Try once more to write what waits."""
        self._try_again()

    def _try_again(self) -> None:
        if self._waiting:
            self.put(())

    def _taken(self) -> None:
        self._waiting, self.fault = [], None
        if self._rescued is not None:
            self._rescued.unlink(missing_ok=True)
            self._rescued = None

    def _rescue(self) -> None:
        """Write what waits into a file apart, instead of the one before, so that not even `kill -9` loses it."""
        before = self._rescued
        try:
            self._rescued = self._store().rescue(self._waiting)
        except OSError:
            return
        if before is not None:
            before.unlink(missing_ok=True)

    def _way_back(self) -> str:
        """The function that brings them into the store."""
        if self._rescued is not None and self._rescued.parent == self._store().folder:
            return "the next run takes them in"
        return f"fcall record --load {self._rescued}"
