"""Money that a run may spend, held for all of its processes together."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import isfinite
from pathlib import Path
from threading import Lock

from pytest_fcall.core import ModelUnavailable

_TABLES = (
    "CREATE TABLE IF NOT EXISTS held (number INTEGER PRIMARY KEY, dollars REAL NOT NULL, until REAL NOT NULL)",
    "CREATE TABLE IF NOT EXISTS spent (dollars REAL NOT NULL)",
    "INSERT INTO spent SELECT 0 WHERE NOT EXISTS (SELECT * FROM spent)",
)
_LAPSE = 900.0
"""Seconds after which what a process holds that died counts as spent."""

_ROUNDING = 1e-9


class OverBudget(ModelUnavailable):
    """The next request could cost more than is left."""


class Budget:
    """An account: money is held before a request and settled after it, so that the limit is not passed in between.

    Processes that are given the same file `shared` share the account. Raises ValueError for what is no limit.
    """

    def __init__(self, limit: float, shared: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        if not (isfinite(limit) and limit >= 0):
            raise ValueError(f"{limit} is no limit of costs: write US dollars, such as 2.50")
        self.limit = limit
        self._file = shared or ":memory:"
        self._clock = clock
        self._lock = Lock()
        self._opened: sqlite3.Connection | None = None

    @property
    def spent(self) -> float:
        """What the settled requests have cost."""
        with self._account() as account:
            return self._balance(account)[0]

    def hold(self, dollars: float, purpose: str) -> int | None:
        """Hold `dollars`, and return a number to settle by; None where other requests must be settled first.

        Raises OverBudget, which names the `purpose`, where even then too little would be left.
        """
        with self._account() as account:
            spent, held = self._balance(account)
            if spent + dollars > self.limit + _ROUNDING:
                raise OverBudget(
                    f"of the ${self.limit:g} of --fc-max-cost ${max(self.limit - spent, 0):,.4f} are left, and "
                    f"{purpose} could cost ${dollars:,.4f}: raise the limit, or keep replies short by max_tokens"
                )
            if spent + held + dollars > self.limit + _ROUNDING:
                return None
            row = dollars, self._clock() + _LAPSE
            return account.execute("INSERT INTO held (dollars, until) VALUES (?, ?)", row).lastrowid

    def settle(self, number: int, dollars: float | None) -> None:
        """Put what it really cost in the place of what is held; where nobody knows, the latter counts.

        Never fails, since a reply must not be lost over its account: what cannot be written stays held.
        """
        with suppress(ModelUnavailable), self._account() as account:
            account.execute(
                "UPDATE spent SET dollars = dollars + "
                "(SELECT total(coalesce(?, held.dollars)) FROM held WHERE number = ?)",
                (dollars, number),
            )
            account.execute("DELETE FROM held WHERE number = ?", (number,))

    def close(self) -> None:
        """Close the account here; other processes may go on."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def _balance(self, account: sqlite3.Connection) -> tuple[float, float]:
        """What is spent, and what is held for requests under way."""
        now = (self._clock(),)
        (spent,) = account.execute(
            "SELECT dollars + (SELECT total(held.dollars) FROM held WHERE until < ?) FROM spent", now
        ).fetchone()
        (held,) = account.execute("SELECT total(dollars) FROM held WHERE until >= ?", now).fetchone()
        return spent, held

    @contextmanager
    def _account(self) -> Iterator[sqlite3.Connection]:
        """One transaction, alone among all threads and processes."""
        with self._lock:
            try:
                account = self._open()
                account.execute("BEGIN IMMEDIATE")
                with account:
                    yield account
            except sqlite3.Error as error:
                raise ModelUnavailable(f"no account of --fc-max-cost can be kept in {self._file}: {error}") from None

    def _open(self) -> sqlite3.Connection:
        if self._opened is None:
            account = sqlite3.connect(self._file, timeout=30, isolation_level=None, check_same_thread=False)
            account.execute("PRAGMA synchronous = OFF")
            account.execute("BEGIN IMMEDIATE")
            with account:
                for statement in _TABLES:
                    account.execute(statement)
            self._opened = account
        return self._opened
