"""A ledger on another machine, as far as those who count in it can see."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import TypeVar

from pytest_fcall.backends.processes.ledger import LedgerError, OwnLedger

T = TypeVar("T")


class FarLedger:
    """It answers while `near` is set, and is lost once `lost` is."""

    def __init__(self) -> None:
        self.near = Event()
        self.near.set()
        self.lost = False
        self.changes = 0
        self._own = OwnLedger()
        self._thread = ThreadPoolExecutor(1)

    @property
    def remote(self) -> FarLedger:
        return self

    def change(self, name: str, change: Callable[[str, float], tuple[str, T]]) -> T:
        return self.submit(name, change).result()

    def read(self, name: str) -> tuple[str, float]:
        return self.submit_read(name).result()

    def submit(self, name: str, change: Callable[[str, float], tuple[str, T]]) -> Future[T]:
        return self._thread.submit(self._answer, lambda: self._own.change(name, change))

    def submit_read(self, name: str) -> Future[tuple[str, float]]:
        return self._thread.submit(self._answer, lambda: self._own.read(name))

    def close(self) -> None:
        """Its thread ends with what is in it."""
        self._thread.shutdown(wait=False)

    def _answer(self, do: Callable[[], T]) -> T:
        assert self.near.wait(20)
        if self.lost:
            raise LedgerError("the server is gone")
        self.changes += 1
        return do()
