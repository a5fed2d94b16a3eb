"""Prices of models in US dollars, from the project or from genai-prices. An unknown price is None, never zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pytest_fcall.backends.settings import PYPROJECT, project_tables
from pytest_fcall.core import Model, Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider


MILLION = 1_000_000
_DOLLARS = "US dollars for a million tokens, such as 1.75"


class Price(Protocol):
    """What a model charges."""

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int) -> float | None:
        """The dollars for so many tokens; the cached ones are part of the input. May raise what arithmetic raises."""
        ...


@dataclass(frozen=True, slots=True)
class OwnPrice:
    """US dollars for a million tokens, as the project gives them."""

    input: float
    output: float
    cached: float
    """For input that the provider had kept from an earlier request."""

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int) -> float | None:
        """Multiply."""
        fresh = input_tokens - cached_tokens
        return (fresh * self.input + cached_tokens * self.cached + output_tokens * self.output) / MILLION


@dataclass(frozen=True, slots=True)
class ListPrice:
    """The price of a well-known model, out of the list that genai-prices carries; no network is used."""

    model: ModelInfo
    provider: Provider

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int) -> float | None:
        """Ask the list. A model that it names without a price is of unknown price."""
        from genai_prices import Usage as Counted

        counted = Counted(input_tokens=input_tokens, output_tokens=output_tokens, cache_read_tokens=cached_tokens)
        priced = self.model.calc_price(counted, self.provider)
        known = priced.model_price.input_mtok is not None and priced.model_price.output_mtok is not None
        return float(priced.total_price) if known else None


def own_prices(root: Path) -> dict[str, OwnPrice]:
    """The prices in `[tool.fcall.prices."KIND:NAME"]` of the pyproject.toml in `root`, by model.

    Raises ValueError, with a line that names file and key, for what is no price.
    """
    return {model: _own_price(model, table) for model, table in project_tables(root, "prices").items()}


def price_of(model: Model, root: Path) -> Price | None:
    """What `model` charges in the project in `root`: its own price, or else that of the list.

    Raises ValueError, in a line, for prices and settings in the project that cannot be read.
    """
    own = own_prices(root)
    if model.kind not in ("openai", "any"):
        return own.get(model.id)
    from pytest_fcall.backends.openai.settings import OPTIONS, server_of
    from pytest_fcall.backends.settings import read_entry

    entry = read_entry(model, root, OPTIONS)
    if given := own.get(model.id) or own.get(f"{model.kind}:{entry.name}"):
        return given
    if model.kind == "openai":
        return _listed(entry.name, url=server_of(entry.settings).url)
    provider, _, name = entry.name.partition("/")
    return _listed(name, provider=provider)


def cost_of(price: Price | None, usage: Usage | None) -> float | None:
    """What a reply of this usage costs; None where the price, or a count that it takes, is not known."""
    if price is None or usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    fresh, cached = usage.input_tokens, usage.cached_tokens or 0
    if not 0 <= cached <= fresh or usage.output_tokens < 0:
        return None
    try:
        dollars = price.cost(fresh, usage.output_tokens, cached)
    except (ArithmeticError, ValueError):
        return None
    return dollars if dollars is not None and isfinite(dollars) else None


def _listed(name: str, *, provider: str | None = None, url: str | None = None) -> ListPrice | None:
    """The price of the provider that goes by this name, or is found at this address."""
    from genai_prices import Usage as Counted
    from genai_prices import calc_price

    try:
        if url is None:
            found = calc_price(Counted(), name, provider_id=provider)
        else:
            found = calc_price(Counted(), name, provider_api_url=url)
    except LookupError:
        return None
    return ListPrice(found.model, found.provider)


def _own_price(model: str, table: Mapping[str, object]) -> OwnPrice:
    where = f'{PYPROJECT}, [tool.fcall.prices."{model}"]'
    if ":" not in model:
        raise ValueError(f'{where} names no model: write it in quotes, as in [tool.fcall.prices."openai:gpt-5.2"]')
    if unknown := sorted(table.keys() - {"input", "output", "cached"}):
        raise ValueError(f"{where}: `{unknown[0]}` is unknown; known are input, output, cached")
    if missing := [key for key in ("input", "output") if key not in table]:
        raise ValueError(f"{where} lacks `{missing[0]}`, {_DOLLARS}")
    prices = {key: _dollars(value, f"{where}: `{key}`") for key, value in table.items()}
    return OwnPrice(**{"cached": prices["input"], **prices})


def _dollars(value: object, what: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MILLION:
        return float(value)
    raise ValueError(f"{what} must be {_DOLLARS}, not {value!r}")
