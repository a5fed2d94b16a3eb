"""The price of batches, and the consent to it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fcall.backends.batch.service import batch_price
from pytest_fcall.backends.costs import NoPriceList, Price, cost_of, greatest_usage, likely_usage, price_of
from pytest_fcall.core.message_text import plural_text
from pytest_fcall.reporting.number_text import cost_text

if TYPE_CHECKING:
    from pytest_fcall.core.backend import Model
    from pytest_fcall.core.request import Request


@dataclass(slots=True)
class Quote:
    """The price of the requests to one model."""

    requests: int = 0
    likely: float | None = 0.0
    most: float | None = 0.0
    """With the longest replies that the requests allow. None where the price is not known."""

    def add(self, likely: float | None, most: float | None) -> None:
        """Add a request."""
        self.requests += 1
        self.likely = None if self.likely is None or likely is None else self.likely + likely
        self.most = None if self.most is None or most is None else self.most + most

    def text(self, model: str) -> str:
        """The quote in a line."""
        what = f"{plural_text(self.requests, 'request')} to {model}"
        if self.likely is None or self.most is None:
            return f"{what}: the price is not known"
        return f"{what}: about {cost_text(self.likely)}, at most {cost_text(self.most)}, at the rate of batches"


class BatchPrices:
    """The prices of models in batches. Each is looked up once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._prices: dict[str, Price | None] = {}

    def most(self, model: Model, request: Request) -> float | None:
        """The dollars that a request costs at most; None where that is not known. Raises ValueError as `of` does."""
        return cost_of(self.of(model), greatest_usage(request))

    def likely(self, model: Model, request: Request) -> float | None:
        """The dollars to expect. Raises ValueError as `of` does."""
        return cost_of(self.of(model), likely_usage(request))

    def of(self, model: Model) -> Price | None:
        """The price of a model. Raises ValueError where the prices of the project cannot be read."""
        if model.id not in self._prices:
            try:
                usual = price_of(model, self._root)
            except NoPriceList:
                usual = None
            self._prices[model.id] = None if usual is None else batch_price(model, usual)
        return self._prices[model.id]


def over_limit(quotes: Mapping[str, Quote], committed: Iterable[float | None], limit: float | None) -> str:
    """The reason why `--fc-max-cost` forbids these requests beside those under way; empty where it allows them."""
    if limit is None:
        return ""
    for model, quote in quotes.items():
        if quote.most is None:
            return (
                f'--fc-max-cost needs the price of {model}, which is unknown: add [tool.fcall.prices."{model}"] with '
                "input and output, in US dollars per million tokens, to pyproject.toml"
            )
    new, before = sum(quote.most or 0.0 for quote in quotes.values()), sum(each or 0.0 for each in committed)
    if new + before <= limit:
        return ""
    beside = f", beside {cost_text(before)} for what is under way" if before else ""
    return (
        f"these requests could cost {cost_text(new)}{beside}, and --fc-max-cost is {cost_text(limit)}: raise the "
        "limit, shorten replies with max_tokens, or name fewer cases"
    )


def confirm_submission(quotes: Mapping[str, Quote], *, yes: bool) -> bool:
    """Print what is to be submitted, and ask for it; without a terminal only `--yes` agrees."""
    for model, quote in sorted(quotes.items()):
        print(quote.text(model))
    if yes:
        return True
    if not (sys.stdin and sys.stdin.isatty()):
        print("fcall record: nothing is submitted without --yes where there is no terminal", file=sys.stderr)
        return False
    print("submit? [y/N] ", end="", flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
