"""The budget of `--fc-max-cost`, which all processes of a run share, and the backend that keeps to it."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from threading import Lock

from pytest_fcall.backends.costs.prices import Price, cost_of
from pytest_fcall.backends.costs.token_estimates import greatest_usage
from pytest_fcall.backends.wrapper import POLL_SECONDS, BackendWrapper
from pytest_fcall.core import ModelUnavailable, Reply, Request, Unanswered, Usage

_TABLES = (
    "CREATE TABLE IF NOT EXISTS held (number INTEGER PRIMARY KEY, dollars REAL NOT NULL, until REAL NOT NULL)",
    "CREATE TABLE IF NOT EXISTS spent (dollars REAL NOT NULL)",
    "INSERT INTO spent SELECT 0 WHERE NOT EXISTS (SELECT * FROM spent)",
)
_HOLD_SECONDS = 900.0
"""Seconds after which the money that a request holds counts as spent: its process has died."""

_ROUNDING = 1e-9


class OverBudget(ModelUnavailable):
    """The next request could cost more than is left."""


class Budget:
    """An account: a request holds money before it is sent, and settles afterwards, so that the limit is never passed.

    Processes with the same file `shared` share the account. Raises ValueError if `limit` is not an amount.
    """

    def __init__(self, limit: float, shared: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        if not (isfinite(limit) and limit >= 0):
            raise ValueError(f"--fc-max-cost must be an amount in US dollars, such as 2.50, not {limit}")
        self.limit = limit
        self._file = shared or ":memory:"
        self._clock = clock
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None

    @property
    def spent(self) -> float:
        """The cost of all settled requests."""
        with self._transaction() as connection:
            return self._balance(connection)[0]

    def hold(self, dollars: float, purpose: str) -> int | None:
        """Hold `dollars`, and return the number to settle by; None if other requests must settle first.

        Raises OverBudget, which names the `purpose`, if too little would be left even then.
        """
        with self._transaction() as connection:
            spent, held = self._balance(connection)
            if spent + dollars > self.limit + _ROUNDING:
                raise OverBudget(
                    f"--fc-max-cost is ${self.limit:g}, of which ${max(self.limit - spent, 0):,.4f} are left, but "
                    f"{purpose} could cost ${dollars:,.4f}: raise the limit, or shorten replies with max_tokens"
                )
            if spent + held + dollars > self.limit + _ROUNDING:
                return None
            row = dollars, self._clock() + _HOLD_SECONDS
            return connection.execute("INSERT INTO held (dollars, until) VALUES (?, ?)", row).lastrowid

    def settle(self, number: int, dollars: float | None) -> None:
        """Replace what is held by the actual cost. If that is unknown, all that is held counts as spent.

        Never raises, because a reply must not be lost over its cost. What cannot be written stays held.
        """
        with suppress(ModelUnavailable), self._transaction() as connection:
            connection.execute(
                "UPDATE spent SET dollars = dollars + "
                "(SELECT total(coalesce(?, held.dollars)) FROM held WHERE number = ?)",
                (dollars, number),
            )
            connection.execute("DELETE FROM held WHERE number = ?", (number,))

    def close(self) -> None:
        """Close the file for this process."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _balance(self, connection: sqlite3.Connection) -> tuple[float, float]:
        """The dollars spent, and the dollars held for requests under way."""
        now = (self._clock(),)
        (spent,) = connection.execute(
            "SELECT dollars + (SELECT total(held.dollars) FROM held WHERE until < ?) FROM spent", now
        ).fetchone()
        (held,) = connection.execute("SELECT total(dollars) FROM held WHERE until >= ?", now).fetchone()
        return spent, held

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """One transaction, exclusive among all threads and processes. Raises ModelUnavailable."""
        with self._lock:
            try:
                connection = self._connect()
                connection.execute("BEGIN IMMEDIATE")
                with connection:
                    yield connection
            except sqlite3.Error as error:
                raise ModelUnavailable(f"--fc-max-cost cannot write {self._file}: {error}") from None

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(self._file, timeout=30, isolation_level=None, check_same_thread=False)
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                for statement in _TABLES:
                    connection.execute(statement)
            self._connection = connection
        return self._connection


@dataclass(slots=True)
class Bill:
    """The cost that a request has used. As long as `usage` is unknown, all that is held for the request counts."""

    usage: Usage | None = None
    free: bool = False
    """Whether the request costs nothing."""
    begun: bool = False
    """Whether an answer that costs something has begun."""
    whole: bool = False
    """Whether the whole answer has come."""


@asynccontextmanager
async def hold_and_settle(
    budget: Budget,
    model: str,
    price: Price | None,
    most: Usage,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> AsyncIterator[Bill]:
    """Hold what a request of usage `most` can cost, and settle by the bill.

    A request that raises an error is free, unless the provider may bill for it. Waits while other requests hold too
    much. Raises OverBudget if waiting cannot help, ModelUnavailable if the price is unknown.
    """
    dollars = cost_of(price, most)
    if dollars is None:
        raise ModelUnavailable(
            f'--fc-max-cost needs the price of {model}, which is unknown: add [tool.fcall.prices."{model}"] with input '
            "and output, in US dollars per million tokens, to pyproject.toml"
        )
    while (number := budget.hold(dollars, f"the next request to {model}")) is None:
        await sleep(POLL_SECONDS)
    bill = Bill()
    try:
        yield bill
    except Exception as error:  # failures cost nothing, unless an answer may have got lost
        lost = bill.begun or (isinstance(error, Unanswered) and error.billable)
        budget.settle(number, None if lost else 0.0)
        raise
    except BaseException:  # broken off: the server may have answered, and may charge for it
        budget.settle(number, None)
        raise
    budget.settle(number, 0.0 if bill.free else cost_of(price, bill.usage))


@dataclass(frozen=True, slots=True)
class MeteredBackend(BackendWrapper):
    """Sends a request only if `budget` can pay for it in any case; see `hold_and_settle`."""

    model: str
    price: Price | None
    budget: Budget
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep

    async def complete(self, request: Request) -> Reply:
        """Answer `request` within the budget."""
        async with hold_and_settle(self.budget, self.model, self.price, greatest_usage(request), self.sleep) as bill:
            reply = await self.backend.complete(request)
            bill.usage = reply.usage
        return reply
