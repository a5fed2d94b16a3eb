"""What the processes of many hosts count together, on the server."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

from pytest_fcall.backends.processes.ledger import LedgerError
from pytest_fcall.backends.store.database import StoreError
from pytest_fcall.backends.store.postgres import tables
from pytest_fcall.backends.store.postgres.connection import Connection, ServerConnection

_FRESH: Final = 1.0
"""Seconds for which a text is not read again."""

T = TypeVar("T")


class ServerLedger:
    """Texts in the tables of a project. It shares the connection of the store."""

    def __init__(self, server: ServerConnection) -> None:
        self._server = server
        self._read: dict[str, tuple[float, str]] = {}

    def change(self, name: str, change: Callable[[str, float], tuple[str, T]]) -> T:
        """Change a text, in a transaction that all others wait for."""

        def work(connection: Connection) -> T:
            with connection.transaction():
                with connection.pipeline():
                    connection.execute("SET LOCAL synchronous_commit = off")  # a minute later it is worth nothing
                    connection.execute(self._server.statement(tables.MAKE_TEXT).encode(), [name])
                    locked = connection.execute(self._server.statement(tables.LOCK_TEXT).encode(), [name])
                row = locked.fetchone()
                before = str(row[0]) if row else ""
                after, result = change(before, self._server.now())
                if after != before:
                    connection.execute(self._server.statement(tables.PUT_TEXT).encode(), [after, name])
            self._read[name] = time.monotonic(), after
            return result

        try:
            return self._server.run(work)
        except StoreError as error:
            raise LedgerError(str(error)) from error

    def read(self, name: str) -> tuple[str, float]:
        """The text as it was within the last second, and the time."""
        try:
            at, text = self._read.get(name, (float("-inf"), ""))
            if time.monotonic() - at > _FRESH:
                statement = self._server.statement(tables.GET_TEXT).encode()
                row = self._server.run(lambda connection: connection.execute(statement, [name]).fetchone())
                text = str(row[0]) if row else ""
                self._read[name] = time.monotonic(), text
            return text, self._server.now()
        except StoreError as error:
            raise LedgerError(str(error)) from error

    def close(self) -> None:
        """The connection is the store's, which closes it."""
