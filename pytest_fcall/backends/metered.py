"""A back end whose requests are paid from a budget."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pytest_fcall.backends.before import Before
from pytest_fcall.backends.budget import Budget
from pytest_fcall.backends.prices import Price, cost_of
from pytest_fcall.backends.tokens import greatest_usage
from pytest_fcall.core import ModelUnavailable, Reply, Request, Usage

_PAUSE = 0.05
"""Seconds until a request that waits for others looks again."""


@dataclass(slots=True)
class Bill:
    """What a request has used, as soon as that is known. Until then it may have used all that is held for it."""

    usage: Usage | None = None
    free: bool = False
    """Whether nobody will ask money for it."""


@asynccontextmanager
async def paying(
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
class Metered(Before):
    """Asks `backend` only for what `budget` can pay in any case, and settles what it did cost: see `paying`."""

    model: str
    price: Price | None
    budget: Budget
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep

    async def complete(self, request: Request) -> Reply:
        """Answer `request` within the budget. What brought no reply counts as free, unless it was broken off."""
        async with paying(self.budget, self.model, self.price, greatest_usage(request), self.pause) as bill:
            reply = await self.backend.complete(request)
            bill.usage = reply.usage
        return reply
