"""What replies cost, and what the run may."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_fcall.core import Backend, Model, ModelUnavailable, Usage
from pytest_fcall.plugin.judge_model import named_judge
from pytest_fcall.plugin.models import NamedModel, named_models
from pytest_fcall.plugin.options import options
from pytest_fcall.session.ask.limits import shared_file

if TYPE_CHECKING:
    from pytest_fcall.backends.costs.budget import Bill, Budget
    from pytest_fcall.backends.costs.prices import Price
    from pytest_fcall.backends.proxy.app_run import ForwardedRequest


class Costs:
    """The prices of this run's models, each looked up once, when it is first wanted."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        judge = named_judge(config)
        self._models = {named.model.id: named.model for named in (*([judge] if judge else []), *named_models(config))}
        self._prices: dict[str, Price | None] = {}
        self.fault = ""
        """Why prices are not known: what is wrong in the project's own."""

    def of(self, model: str, usage: Usage | None) -> float | None:
        """The dollars for a reply of this usage; None where nobody knows."""
        from pytest_fcall.backends.costs.prices import cost_of

        if usage is None:
            return None
        if model not in self._prices:
            self._prices[model] = self._price(self._models.get(model) or _model(model))
        return cost_of(self._prices[model], usage)

    def _price(self, model: Model) -> Price | None:
        from pytest_fcall.backends.costs.prices import price_of

        try:
            return price_of(model, self._config.rootpath)
        except ValueError as error:
            self.fault = str(error)
            return None


def total_cost(costs: Sequence[float | None]) -> float | None:
    """The dollars for all of these; None where one is not known."""
    return None if None in costs else sum(each for each in costs if each is not None)


def _model(name: str) -> Model:
    kind, _, rest = name.partition(":")
    return Model(kind, rest)


BUDGET: pytest.StashKey[Budget] = pytest.StashKey()


def metered(config: pytest.Config, named: NamedModel, backend: Backend) -> Backend:
    """The back end, asked within `--fc-max-cost` where that is set and where a request has a price.

    Raises ModelUnavailable where the project's own prices cannot be read.
    """
    limit = options(config).max_cost
    if limit is None or not backend.ahead or named.model.kind in ("local", "http"):
        return backend
    from pytest_fcall.backends.costs.budget import MeteredBackend
    from pytest_fcall.backends.costs.prices import price_of

    budget = _budget(config, limit)
    try:
        price = price_of(named.model, config.rootpath)
    except ValueError as error:
        raise ModelUnavailable(str(error)) from None
    return MeteredBackend(backend, named.model.id, price, budget)


class AppBudget:
    """Pays for what apps ask of models, within `--fc-max-cost`."""

    def __init__(self, budget: Budget, root: Path) -> None:
        self._budget = budget
        self._root = root
        self._prices: dict[tuple[str, str], Price | None] = {}

    def paying(self, asked: ForwardedRequest, provider: str) -> AbstractAsyncContextManager[Bill]:
        """Hold what it can cost, and settle what it did cost. Raises ModelUnavailable where it cannot be paid."""
        from pytest_fcall.backends.costs.budget import hold_and_settle
        from pytest_fcall.backends.costs.token_estimates import greatest_usage

        name = asked.priced_as
        if (name, provider) not in self._prices:
            self._prices[name, provider] = self._price(name, provider)
        return hold_and_settle(self._budget, name, self._prices[name, provider], greatest_usage(asked.request()))

    def _price(self, name: str, provider: str) -> Price | None:
        """By the real address of the provider: the variables lead to the proxy while an app is at work."""
        from dataclasses import replace

        from pytest_fcall.backends.costs.prices import price_of

        model = Model.by_id(name)
        options = {"base_url": provider} if model.kind == "openai" else {}
        try:
            return price_of(replace(model, options=options), self._root)
        except ValueError as error:
            raise ModelUnavailable(str(error)) from None


def app_budget(config: pytest.Config) -> AppBudget | None:
    """Who pays for what apps ask; None where there is no limit."""
    limit = options(config).max_cost
    return None if limit is None else AppBudget(_budget(config, limit), config.rootpath)


def _budget(config: pytest.Config, limit: float) -> Budget:
    """The one account of this process."""
    from pytest_fcall.backends.costs.budget import Budget

    if BUDGET not in config.stash:
        config.stash[BUDGET] = Budget(limit, shared_file(config))
        config.add_cleanup(config.stash[BUDGET].close)
    return config.stash[BUDGET]
