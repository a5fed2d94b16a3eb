"""What replies cost, and what the run may."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_fcall.core import Backend, Model, ModelUnavailable, Usage
from pytest_fcall.plugin.judge import named_judge
from pytest_fcall.plugin.limits import shared_file
from pytest_fcall.plugin.models import NamedModel, named_models
from pytest_fcall.plugin.options import options

if TYPE_CHECKING:
    from pytest_fcall.backends.budget import Budget
    from pytest_fcall.backends.prices import Price


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
        from pytest_fcall.backends.prices import cost_of

        if usage is None:
            return None
        if model not in self._prices:
            self._prices[model] = self._price(self._models.get(model) or _model(model))
        return cost_of(self._prices[model], usage)

    def _price(self, model: Model) -> Price | None:
        from pytest_fcall.backends.prices import price_of

        try:
            return price_of(model, self._config.rootpath)
        except ValueError as error:
            self.fault = str(error)
            return None


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
    from pytest_fcall.backends.budget import Budget
    from pytest_fcall.backends.metered import Metered
    from pytest_fcall.backends.prices import price_of

    if BUDGET not in config.stash:
        config.stash[BUDGET] = Budget(limit, shared_file(config))
        config.add_cleanup(config.stash[BUDGET].close)
    try:
        price = price_of(named.model, config.rootpath)
    except ValueError as error:
        raise ModelUnavailable(str(error)) from None
    return Metered(backend, named.model.id, price, config.stash[BUDGET])
