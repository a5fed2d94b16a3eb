"""The budget of `--fc-max-cost`, which all processes of a run share, and the backend that keeps to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from math import isfinite
from typing import Protocol, TypeVar

from pytest_fcall.backends.costs import Price, cost_of, greatest_usage
from pytest_fcall.backends.processes.ledger import Ledger, LedgerError, OwnLedger, change_soon, text_change
from pytest_fcall.backends.wrapper import POLL_SECONDS, BackendWrapper
from pytest_fcall.core.backend import ModelUnavailable, Unanswered
from pytest_fcall.core.reply import Reply, Usage
from pytest_fcall.core.request import Request

_HOLD_SECONDS = 900.0
"""Seconds after which the money that a request holds counts as spent: its process has died."""

_ROUNDING = 1e-9
_LEAST_WITH_FOUR_DECIMALS = 0.001

T = TypeVar("T")


class OverBudget(ModelUnavailable):
    """The next request could cost more than is left."""


@dataclass(slots=True)
class _Account:
    """The dollars spent, and those held by requests under way, by number, with the time until which each holds them."""

    spent: float = 0.0
    last: int = 0
    held: dict[str, tuple[float, float]] = field(default_factory=dict)

    def balance(self, now: float) -> tuple[float, float]:
        """The dollars spent, and the dollars held."""
        lapsed = sum(dollars for dollars, until in self.held.values() if until < now)
        return self.spent + lapsed, sum(dollars for dollars, until in self.held.values() if until >= now)

    def to_text(self) -> str:
        return json.dumps([self.spent, self.last, self.held])

    @classmethod
    def from_text(cls, text: str) -> _Account:
        """Read what `to_text` returned. Raises LedgerError: an account that cannot be read is no empty one."""
        try:
            spent, last, held = json.loads(text) if text else (0.0, 0, {})
            return cls(float(spent), int(last), {each: (float(row[0]), float(row[1])) for each, row in held.items()})
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise LedgerError(f"the account was changed: {error}") from None


class Purse(Protocol):
    """A budget as requests see it, wherever it is kept."""

    @property
    def spent(self) -> float:
        """The cost of all settled requests."""
        ...

    async def hold_soon(self, dollars: float, purpose: str) -> int | None:
        """See `Budget.hold`."""
        ...

    def settle_soon(self, number: int, dollars: float | None) -> None:
        """See `Budget.settle`."""
        ...


class Budget:
    """An account: a request holds money before it is sent, and settles afterwards, so that the limit is never passed.

    Budgets with the same `ledger` and `name` share one account. Raises ValueError if `limit` is not an amount.
    """

    def __init__(self, limit: float, ledger: Ledger | None = None, name: str = "budget") -> None:
        if not (isfinite(limit) and limit >= 0):
            raise ValueError(f"--fc-max-cost must be an amount in US dollars, such as 2.50, not {limit}")
        self.limit = limit
        self._ledger = ledger or OwnLedger()
        self._name = name

    @property
    def spent(self) -> float:
        """The cost of all settled requests."""
        return self._change(lambda account, now: account.balance(now)[0])

    def hold(self, dollars: float, purpose: str) -> int | None:
        """Hold `dollars`, and return the number to settle by; None if other requests must settle first.

        Raises OverBudget, which names the `purpose`, if too little would be left even then.
        """

        return self._change(self._holding(dollars, purpose))

    async def hold_soon(self, dollars: float, purpose: str) -> int | None:
        """Do what `hold` does, and keep no event loop waiting for another machine."""
        hold, numbers = self._holding(dollars, purpose), list[int | None]()

        def noted(account: _Account, now: float) -> int | None:
            numbers[:] = [hold(account, now)]
            return numbers[0]

        try:
            with _ledger_errors():
                return await change_soon(self._ledger, self._name, text_change(_Account, noted))
        except asyncio.CancelledError:  # it may be held all the same
            if remote := self._ledger.remote:
                remote.submit(
                    self._name, text_change(_Account, lambda account, _: account.held.pop(str(*numbers), None))
                )
            raise

    def _holding(self, dollars: float, purpose: str) -> Callable[[_Account, float], int | None]:
        def hold(account: _Account, now: float) -> int | None:
            spent, held = account.balance(now)
            if spent + dollars > self.limit + _ROUNDING:
                limit, left = Decimal(f"{self.limit:g}"), _dollars(max(self.limit - spent, 0))
                raise OverBudget(
                    f"--fc-max-cost is ${limit:f}, of which {left} are left, but {purpose} could cost "
                    f"{_dollars(dollars)}: raise the limit, or shorten replies with max_tokens"
                )
            if spent + held + dollars > self.limit + _ROUNDING:
                return None
            account.last += 1
            account.held[str(account.last)] = dollars, now + _HOLD_SECONDS
            return account.last

        return hold

    def settle(self, number: int, dollars: float | None) -> None:
        """Replace what is held by the actual cost. If that is unknown, all that is held counts as spent.

        Never raises, because a reply must not be lost over its cost. What cannot be written stays held.
        """

        with suppress(ModelUnavailable):
            self._change(_settling(number, dollars))

    def settle_soon(self, number: int, dollars: float | None) -> None:
        """Do what `settle` does, before anything is held from now on, and wait for no other machine."""
        if remote := self._ledger.remote:
            remote.submit(self._name, text_change(_Account, _settling(number, dollars)))
        else:
            self.settle(number, dollars)

    def close(self) -> None:
        """Let go of the ledger for this process."""
        self._ledger.close()

    def _change(self, change: Callable[[_Account, float], T]) -> T:
        """Change the account, exclusively among all threads and processes. Raises ModelUnavailable."""
        with _ledger_errors():
            return self._ledger.change(self._name, text_change(_Account, change))


def _settling(number: int, dollars: float | None) -> Callable[[_Account, float], None]:
    def settle(account: _Account, _: float) -> None:
        if held := account.held.pop(str(number), None):
            account.spent += held[0] if dollars is None else dollars

    return settle


@contextmanager
def _ledger_errors() -> Iterator[None]:
    """Raise errors of the ledger as ModelUnavailable."""
    try:
        yield
    except LedgerError as error:
        raise ModelUnavailable(f"--fc-max-cost cannot be kept to: {error}") from None


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
    budget: Purse,
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
    while (number := await budget.hold_soon(dollars, f"the next request to {model}")) is None:
        await sleep(POLL_SECONDS)
    bill = Bill()
    try:
        yield bill
    except Exception as error:  # failures cost nothing, unless an answer may have got lost
        lost = bill.begun or (isinstance(error, Unanswered) and error.billable)
        budget.settle_soon(number, None if lost else 0.0)
        raise
    except BaseException:  # broken off: the server may have answered, and may charge for it
        budget.settle_soon(number, None)
        raise
    budget.settle_soon(number, 0.0 if bill.free else cost_of(price, bill.usage))


@dataclass(frozen=True, slots=True)
class MeteredBackend(BackendWrapper):
    """Sends a request only if `budget` can pay for it in any case; see `hold_and_settle`."""

    model: str
    price: Price | None
    budget: Purse
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep

    async def complete(self, request: Request) -> Reply:
        """Answer `request` within the budget."""
        async with hold_and_settle(self.budget, self.model, self.price, greatest_usage(request), self.sleep) as bill:
            reply = await self.backend.complete(request)
            bill.usage = reply.usage
        return reply


def _dollars(amount: float) -> str:
    """An amount, of which a small one keeps the digits that tell it from nothing."""
    if amount == 0 or amount >= _LEAST_WITH_FOUR_DECIMALS:
        return f"${amount:,.4f}"
    return f"${Decimal(f'{amount:.2g}'):f}"
