"""A back end whose requests are paid from a budget."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pytest_fcall.backends.before import Before
from pytest_fcall.backends.budget import Budget
from pytest_fcall.backends.prices import Price, cost_of
from pytest_fcall.backends.tokens import greatest_usage
from pytest_fcall.core import ModelUnavailable, Reply, Request

_PAUSE = 0.05
"""Seconds until a request that waits for others looks again."""


@dataclass(frozen=True, slots=True)
class Metered(Before):
    """Asks `backend` only for what `budget` can pay in any case, and settles what it did cost.

    A request waits while others that hold money are under way. `OverBudget` is raised where waiting would not help,
    ModelUnavailable where nobody knows the price.
    """

    model: str
    price: Price | None
    budget: Budget
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep

    async def complete(self, request: Request) -> Reply:
        """Answer `request` within the budget. What brought no reply counts as free, unless it was broken off."""
        number = await self._hold(request)
        try:
            reply = await self.backend.complete(request)
        except Exception:
            self.budget.settle(number, 0.0)
            raise
        except BaseException:
            self.budget.settle(number, None)
            raise
        self.budget.settle(number, cost_of(self.price, reply.usage))
        return reply

    async def _hold(self, request: Request) -> int:
        dollars = cost_of(self.price, greatest_usage(request))
        if dollars is None:
            raise ModelUnavailable(
                f"--fc-max-cost needs the price of {self.model}, which is not known: put [tool.fcall.prices."
                f'"{self.model}"] with input and output, in US dollars for a million tokens, into pyproject.toml'
            )
        while (number := self.budget.hold(dollars, f"the next request to {self.model}")) is None:
            await self.pause(_PAUSE)
        return number
