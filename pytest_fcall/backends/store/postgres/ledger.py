"""The ledger on the server, in which the processes of many hosts count together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from pytest_fcall.backends.processes.ledger import LedgerError
from pytest_fcall.backends.store.database import StoreError
from pytest_fcall.backends.store.postgres import tables
from pytest_fcall.backends.store.postgres.connection import Connection, ServerConnection, begin, rolled_back
from pytest_fcall.backends.store.postgres.store_thread import GatheredWork, StoreThread, WorkOutcome

_FRESH: Final = 1.0
"""Seconds for which a text is not read again."""

T = TypeVar("T")


class _Change(NamedTuple):
    name: str
    change: Callable[[str, float], tuple[str, Any]]


class ServerLedger:
    """Texts in the tables of a project. It shares the connection of the store, and its thread."""

    def __init__(self, server: ServerConnection, thread: StoreThread) -> None:
        self._server = server
        self._read: dict[str, tuple[float, str]] = {}
        self._changes: GatheredWork[_Change] = GatheredWork(thread, self._change_all)
        self._reads: GatheredWork[str] = GatheredWork(
            thread, lambda names: [partial(self.read, name) for name in names]
        )

    @property
    def remote(self) -> ServerLedger:
        """It is on another machine, as far as anybody knows."""
        return self

    def change(self, name: str, change: Callable[[str, float], tuple[str, T]]) -> T:
        """Change a text, in a transaction that all others wait for."""
        changed: T = self._changes.do(_Change(name, change))
        return changed

    def submit(self, name: str, change: Callable[[str, float], tuple[str, T]]) -> Future[T]:
        """Change a text, together with others."""
        self._read.pop(name, None)  # a later read waits for the change
        return self._changes.submit(_Change(name, change))

    def _change_all(self, changes: Sequence[_Change]) -> Sequence[WorkOutcome]:
        """Make changes one after the other, of all their texts in one transaction of two round trips."""
        names = sorted({each.name for each in changes})

        def work(connection: Connection) -> Sequence[WorkOutcome]:
            with rolled_back(connection):
                with connection.pipeline():
                    begin(connection, durable=False)  # a minute later it is worth nothing
                    for name in names:
                        self._server.execute(connection, tables.MAKE_TEXT, name)
                    locked = {name: self._server.execute(connection, tables.LOCK_TEXT, name) for name in names}
                before = {name: str(row[0]) if (row := locked[name].fetchone()) else "" for name in names}
                texts, outcomes, now = dict(before), [], self._server.now()
                for name, change in changes:
                    try:
                        texts[name], result = change(texts[name], now)
                    except Exception as error:  # it belongs to the caller of this change alone
                        outcomes.append(partial(_raise, error))
                    else:
                        outcomes.append(partial(_returned, result))
                with connection.pipeline():
                    for name in names:
                        if texts[name] != before[name]:
                            self._server.execute(connection, tables.PUT_TEXT, texts[name], name)
                    connection.execute("COMMIT")
            self._read.update((name, (time.monotonic(), text)) for name, text in texts.items())
            return outcomes

        with _ledger_errors():
            return self._server.run(work)

    def read(self, name: str) -> tuple[str, float]:
        """The text as it was within the last second, and the time."""
        with _ledger_errors():
            if (text := self._fresh(name)) is None:
                row = self._server.run(
                    lambda connection: self._server.execute(connection, tables.GET_TEXT, name).fetchone()
                )
                text = str(row[0]) if row else ""
                self._read[name] = time.monotonic(), text
            return text, self._server.now()

    def submit_read(self, name: str) -> Future[tuple[str, float]]:
        """Read the text, unless it is known, after the changes that were submitted before."""
        if self._fresh(name) is None:
            return self._reads.submit(name)
        known: Future[tuple[str, float]] = Future()
        known.set_result(self.read(name))
        return known

    def _fresh(self, name: str) -> str | None:
        at, text = self._read.get(name, (float("-inf"), ""))
        return None if time.monotonic() - at > _FRESH else text

    def close(self) -> None:
        """The connection is the store's, which closes it."""


@contextmanager
def _ledger_errors() -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise LedgerError(str(error)) from error


def _raise(error: Exception) -> Any:
    raise error


def _returned(result: T) -> T:
    return result
