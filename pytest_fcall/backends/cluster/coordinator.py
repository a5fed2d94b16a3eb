"""What all processes of a cluster share: limits, the budget, and the log of a round."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pytest_fcall.backends.cluster.round_log import RoundLog
from pytest_fcall.backends.cluster.shared_limits import Admission, SharedWindows
from pytest_fcall.backends.costs.budget import Budget


class Coordinator:
    """One for a cluster, as an actor on the node of the one who records. Its event loop is Ray's."""

    def __init__(self, rpm: int | None, tpm: int | None, max_cost: float | None) -> None:
        self._windows = SharedWindows(rpm, tpm)
        self._budget = None if max_cost is None else Budget(max_cost)
        self._log = RoundLog()

    async def new_round(self) -> None:
        """Forget the requests of the round before."""
        self._log = RoundLog()

    async def admit(self, model: str, tokens: Sequence[int]) -> Admission:
        """See `SharedWindows.admit`."""
        return await self._windows.admit(model, tokens)

    async def block(self, model: str, seconds: float) -> None:
        """See `SharedWindows.block`."""
        self._windows.block(model, seconds)

    async def settle_tokens(self, model: str, taken: float, tokens: int) -> None:
        """See `SharedWindows.settle`."""
        self._windows.settle(model, taken, tokens)

    async def hold(self, dollars: float, purpose: str) -> int | None:
        """See `Budget.hold`."""
        return self._budget.hold(dollars, purpose) if self._budget else 0

    async def settle(self, number: int, dollars: float | None) -> None:
        """See `Budget.settle`."""
        if self._budget:
            self._budget.settle(number, dollars)

    async def spent(self) -> float:
        """See `Budget.spent`."""
        return self._budget.spent if self._budget else 0.0

    async def deaths(self, digests: Sequence[str]) -> dict[str, int]:
        """See `RoundLog.deaths`."""
        return self._log.deaths(digests)

    async def begin(self, digests: Sequence[str]) -> None:
        """See `RoundLog.begin`."""
        self._log.begin(digests)

    async def add_part(self, name: str, digests: Sequence[str]) -> None:
        """See `RoundLog.add_part`."""
        self._log.add_part(name, digests)

    async def parts_after(self, number: int) -> list[str]:
        """See `RoundLog.parts_after`."""
        return self._log.parts_after(number)


class CoordinatorClient:
    """The coordinator as the other processes see it, by a handle of Ray's."""

    def __init__(self, handle: Any) -> None:
        self._actor = handle

    async def admit(self, model: str, tokens: Sequence[int]) -> Admission:
        """See `SharedWindows.admit`."""
        admission: Admission = await self._actor.admit.remote(model, tokens)
        return admission

    def block(self, model: str, seconds: float) -> None:
        """See `SharedWindows.block`."""
        self._actor.block.remote(model, seconds)

    def settle_tokens(self, model: str, taken: float, tokens: int) -> None:
        """See `SharedWindows.settle`."""
        self._actor.settle_tokens.remote(model, taken, tokens)

    async def hold_soon(self, dollars: float, purpose: str) -> int | None:
        """See `Budget.hold`."""
        number: int | None = await self._actor.hold.remote(dollars, purpose)
        return number

    def settle_soon(self, number: int, dollars: float | None) -> None:
        """See `Budget.settle`."""
        self._actor.settle.remote(number, dollars)

    @property
    def spent(self) -> float:
        """See `Budget.spent`."""
        return float(_result(self._actor.spent.remote()))

    def new_round(self) -> None:
        """Forget the requests of the round before."""
        _result(self._actor.new_round.remote())

    def deaths(self, digests: Iterable[str]) -> dict[str, int]:
        """See `RoundLog.deaths`."""
        found: dict[str, int] = _result(self._actor.deaths.remote([*digests]))
        return found

    def begin(self, digests: Iterable[str]) -> None:
        """Note that these rows are asked now, before they are."""
        _result(self._actor.begin.remote([*digests]))

    def add_part(self, name: str, digests: Iterable[str]) -> None:
        """See `RoundLog.add_part`."""
        _result(self._actor.add_part.remote(name, [*digests]))

    def parts_after(self, number: int) -> list[str]:
        """See `RoundLog.parts_after`."""
        names: list[str] = _result(self._actor.parts_after.remote(number))
        return names


def _result(reference: Any) -> Any:
    """The result of a call. What the coordinator raised is raised as it is."""
    import ray

    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
