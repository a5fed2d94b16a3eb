"""A back end whose requests are paid from a budget."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_fcall.backends.budget import Budget
from pytest_fcall.backends.prices import Price, cost_of
from pytest_fcall.backends.tokens import greatest_usage
from pytest_fcall.core import Backend, Json, ModelUnavailable, Reply, Request, changes_of

_PAUSE = 0.05
"""Seconds until a request that waits for others looks again."""


@dataclass(frozen=True, slots=True)
class Metered:
    """Asks `backend` only for what `budget` can pay in any case, and settles what it did cost.

    A request waits while others that hold money are under way. `OverBudget` is raised where waiting would not help,
    ModelUnavailable where nobody knows the price.
    """

    backend: Backend
    model: str
    price: Price | None
    budget: Budget
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep

    @property
    def settings(self) -> Mapping[str, Json]:
        """As the back end's."""
        return self.backend.settings

    @property
    def reusable(self) -> bool:
        """As the back end's."""
        return self.backend.reusable

    @property
    def ahead(self) -> bool:
        """As the back end's."""
        return self.backend.ahead

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

    def changes(self, request: Request) -> Sequence[str]:
        """As the back end's: what it does to a request before it sends it."""
        return changes_of(self.backend, request)

    async def close(self) -> None:
        """Close the back end. The budget may be that of other models, too."""
        await self.backend.close()

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
