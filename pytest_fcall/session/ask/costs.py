"""Costs of replies, the budget of a run, and the limits of its requests: what the processes of a run share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.core.backend import Backend, Model, ModelUnavailable
from pytest_fcall.core.files import PRIVATE_FOLDER
from pytest_fcall.core.reply import Usage

if TYPE_CHECKING:
    from pytest_fcall.backends.budget import Bill, Budget
    from pytest_fcall.backends.costs import Price
    from pytest_fcall.backends.dispatch.job import DispatchLimits
    from pytest_fcall.backends.processes.ledger import Ledger
    from pytest_fcall.backends.proxy.forwarded_request import ForwardedRequest
    from pytest_fcall.session.ask.recordings import SessionRecordings
    from pytest_fcall.session.settings import Settings


class Costs:
    """The prices of this run's models. Each is looked up once, when it is first needed."""

    def __init__(self, settings: Settings) -> None:
        self._root = settings.root
        named = (*([settings.judge] if settings.judge else []), *settings.models)
        self._models: Mapping[str, Model] = {each.model.id: each.model for each in named}
        self._prices: dict[str, Price | None] = {}
        self.fault = ""
        """The fault of the prices of the project, so that they are not used, or who would know those that are
        missing."""

    def of(self, model: str, usage: Usage | None) -> float | None:
        """The dollars for a reply of this usage; None where usage or price is unknown."""
        if usage is None:
            return None
        from pytest_fcall.backends.costs import cost_of

        if model not in self._prices:
            self._prices[model] = self._price(self._models.get(model) or Model.by_id(model))
        price = self._prices[model]
        if usage.batched is None or price is None:
            return cost_of(price, usage)
        from pytest_fcall.backends.batch.service import batch_price

        batched = cost_of(batch_price(Model.by_id(model), price), usage.batched)
        return total_cost([batched, cost_of(price, usage.unbatched)])

    def _price(self, model: Model) -> Price | None:
        from pytest_fcall.backends.costs import price_of

        try:
            return price_of(model, self._root)
        except ValueError as error:
            self.fault = str(error)
            return None


def total_cost(costs: Sequence[float | None]) -> float | None:
    """The dollars for all of these; None where one is not known."""
    return None if None in costs else sum(each for each in costs if each is not None)


class SpendingLimit:
    """Keeps the requests of this process within `--fc-max-cost`, which all workers share."""

    def __init__(self, settings: Settings, recordings: SessionRecordings) -> None:
        self._settings = settings
        self._recordings = recordings
        self._budget: Budget | None = None

    def metered(self, model: Model, backend: Backend) -> Backend:
        """The backend within the budget, where there is one and the model's requests have a price.

        Raises ModelUnavailable where the prices of the project cannot be read.
        """
        budget = self.budget
        if budget is None or not backend.ahead or model.kind in ("local", "http"):
            return backend
        from pytest_fcall.backends.budget import MeteredBackend

        return MeteredBackend(backend, model.id, _price(model, self._settings.root), budget)

    def of_apps(self) -> AppSpendingLimit | None:
        """Pays for requests that apps send; None where there is no budget."""
        return None if self.budget is None else AppSpendingLimit(self.budget, self._settings.root)

    @property
    def budget(self) -> Budget | None:
        """The budget of this process; None where costs have no limit."""
        if self._budget is None and self._settings.max_cost is not None:
            from pytest_fcall.backends.budget import Budget

            worker = self._settings.worker  # without workers, this process is the run
            ledger = _shared_ledger(self._settings, self._recordings) if worker else None
            self._budget = Budget(self._settings.max_cost, ledger, f"budget of {worker.run if worker else 'the run'}")
        return self._budget

    def close(self) -> None:
        """Let go of the file that workers share."""
        if self._budget is not None:
            self._budget.close()


class AppSpendingLimit:
    """Pays for the requests that apps send to models."""

    def __init__(self, budget: Budget, root: Path) -> None:
        self._budget = budget
        self._root = root
        self._prices: dict[tuple[str, str], Price | None] = {}

    def paying(self, asked: ForwardedRequest, provider: str) -> AbstractAsyncContextManager[Bill]:
        """Reserve the most that the request can cost, and settle its real cost. Raises ModelUnavailable if over budget.

        `provider` is the real address of the provider: the environment leads to the proxy meanwhile.
        """
        from pytest_fcall.backends.budget import hold_and_settle
        from pytest_fcall.backends.costs import greatest_usage

        key = asked.priced_as, provider
        if key not in self._prices:
            model = Model.by_id(asked.priced_as)
            options = {"base_url": provider} if model.kind == "openai" else {}
            self._prices[key] = _price(replace(model, options=options), self._root)
        return hold_and_settle(self._budget, asked.priced_as, self._prices[key], greatest_usage(asked.request()))


def _price(model: Model, root: Path) -> Price | None:
    from pytest_fcall.backends.costs import NoPriceList, price_of

    try:
        return price_of(model, root)
    except NoPriceList as error:
        raise ModelUnavailable(f"--fc-max-cost cannot be kept to: {error}") from None
    except ValueError as error:
        raise ModelUnavailable(str(error)) from None


def request_limits(settings: Settings, recordings: SessionRecordings) -> DispatchLimits:
    """The limits of this process; requests and tokens per minute are counted in a ledger that all workers share."""
    from pytest_fcall.backends.dispatch.job import DispatchLimits

    return DispatchLimits(
        concurrency=share_of_concurrency(settings),
        rpm=settings.requests_per_minute,
        tpm=settings.tokens_per_minute,
        shared=_shared_ledger(settings, recordings),
    )


def share_of_concurrency(settings: Settings) -> int:
    """The number of requests that this process may have in flight; at least one for each worker."""
    if settings.worker is None:
        return settings.concurrency
    share, rest = divmod(settings.concurrency, settings.worker.count)
    number = settings.worker.id.removeprefix("gw")
    return max(1, share + (number.isdecimal() and int(number) < rest))


def _shared_ledger(settings: Settings, recordings: SessionRecordings) -> Ledger | None:
    """The ledger that this process shares with other workers, and with hosts of one store; None where it is alone.

    On a server, all runs of a project share it.
    """
    worker = settings.worker
    if worker is None and settings.store is None:
        return None
    return recordings.store.ledger(worker.run if worker else "")


def forget_ledger(root: Path, run: str) -> None:
    """Delete the file in which the workers of this run counted, if there is one."""
    from pytest_fcall.backends.processes.ledger import ledger_path

    path = ledger_path(root / PRIVATE_FOLDER, run)
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink(missing_ok=True)
