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
from pytest_fcall.backends.wrapper import BackendWrapper
from pytest_fcall.core import ModelUnavailable, Reply, Request, Usage

_TABLES = (
    "CREATE TABLE IF NOT EXISTS held (number INTEGER PRIMARY KEY, dollars REAL NOT NULL, until REAL NOT NULL)",
    "CREATE TABLE IF NOT EXISTS spent (dollars REAL NOT NULL)",
    "INSERT INTO spent SELECT 0 WHERE NOT EXISTS (SELECT * FROM spent)",
)
_HOLD_SECONDS = 900.0
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
            row = dollars, self._clock() + _HOLD_SECONDS
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


_PAUSE = 0.05
"""Seconds until a request that waits for others looks again."""


@dataclass(slots=True)
class Bill:
    """What a request has used, as soon as that is known. Until then it may have used all that is held for it."""

    usage: Usage | None = None
    free: bool = False
    """Whether nobody will ask money for it."""


@asynccontextmanager
async def hold_and_settle(
    budget: Budget,
    model: str,
    price: Price | None,
    most: Usage,
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> AsyncIterator[Bill]:
    """Hold what a request can cost at `most`, and settle what it did cost. What raises an error counts as free.

    Waits while others that hold money are under way. OverBudget is raised where waiting would not help,
    ModelUnavailable where nobody knows the price.
    """
    dollars = cost_of(price, most)
    if dollars is None:
        raise ModelUnavailable(
            f"--fc-max-cost needs the price of {model}, which is not known: put [tool.fcall.prices."
            f'"{model}"] with input and output, in US dollars for a million tokens, into pyproject.toml'
        )
    while (number := budget.hold(dollars, f"the next request to {model}")) is None:
        await pause(_PAUSE)
    bill = Bill()
    try:
        yield bill
    except Exception:
        budget.settle(number, 0.0)
        raise
    except BaseException:
        budget.settle(number, None)
        raise
    budget.settle(number, 0.0 if bill.free else cost_of(price, bill.usage))


@dataclass(frozen=True, slots=True)
class MeteredBackend(BackendWrapper):
    """Asks `backend` only for what `budget` can pay in any case, and settles what it did cost: see `paying`."""

    model: str
    price: Price | None
    budget: Budget
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep

    async def complete(self, request: Request) -> Reply:
        """Answer `request` within the budget. What brought no reply counts as free, unless it was broken off."""
        async with hold_and_settle(self.budget, self.model, self.price, greatest_usage(request), self.pause) as bill:
            reply = await self.backend.complete(request)
            bill.usage = reply.usage
        return reply
