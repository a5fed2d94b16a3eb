from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from pytest_fcall.backends.budget import Budget, MeteredBackend, OverBudget
from pytest_fcall.backends.costs import OwnPrice, price_of
from pytest_fcall.backends.dispatch.dispatcher import Dispatcher
from pytest_fcall.backends.dispatch.job import DispatchLimits, Job
from pytest_fcall.backends.openai import openai_backend
from pytest_fcall.core import Backend, Json, Model, ModelUnavailable, Reply, Request, Unanswered, Usage, request_digest
from tests.servers import Server

DEAR = OwnPrice(input=0, output=1000, cached=0)
"""A dollar buys a thousand tokens of output."""


class Held:
    """Answers when it is let go, and counts how many requests are under way."""

    settings: Mapping[str, Json] = MappingProxyType({"temperature": 0})
    reusable = False
    ahead = True

    def __init__(self, usage: Usage | None = None, error: Exception | None = None) -> None:
        self.usage, self.error = usage, error
        self.asked = self.under_way = self.most = 0
        self.closed = False
        self.go = asyncio.Event()

    async def complete(self, request: Request) -> Reply:
        self.asked += 1
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            await self.go.wait()
        finally:
            self.under_way -= 1
        if self.error:
            raise self.error
        return Reply("Hello", usage=self.usage)

    async def close(self) -> None:
        self.closed = True


def request(number: int = 0, max_tokens: int = 100) -> Request:
    return Request(({"role": "user", "content": f"Hello {number}"},), settings={"max_tokens": max_tokens})


def metered(model: Backend, limit: float, price: OwnPrice | None = DEAR) -> MeteredBackend:
    return MeteredBackend(model, "openai:dear", price, Budget(limit), sleep=lambda _: asyncio.sleep(0))


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_only_as_many_are_under_way_as_can_be_paid_in_any_case() -> None:
    async def run() -> tuple[int, int, float]:
        model = Held(Usage(5, 10))
        backend = metered(model, 0.35)
        tasks = [asyncio.ensure_future(backend.complete(request(number))) for number in range(10)]
        await settled()
        model.go.set()
        await asyncio.gather(*tasks)
        return model.most, model.asked, backend.budget.spent

    most, asked, spent = asyncio.run(run())
    assert (most, asked) == (3, 10)
    assert spent == pytest.approx(0.1)


def test_the_request_that_could_pass_the_limit_is_never_sent() -> None:
    async def run() -> tuple[int, list[str]]:
        model = Held(Usage(5, 100))
        model.go.set()
        backend = metered(model, 0.35)
        answers = await asyncio.gather(*(backend.complete(request(n)) for n in range(6)), return_exceptions=True)
        return model.asked, [str(answer) for answer in answers if isinstance(answer, OverBudget)]

    asked, refused = asyncio.run(run())
    assert asked == 3
    assert len(refused) == 3
    assert "--fc-max-cost is $0.35, of which $0.0500 are left, but the next request to openai:dear" in refused[0]


@pytest.mark.parametrize(
    ("usage", "spent"), [(Usage(5, 10), 0.01), (Usage(5, 200), 0.2), (None, 0.1), (Usage(5, None), 0.1)]
)
def test_a_reply_counts_by_its_usage_or_else_in_full(usage: Usage | None, spent: float) -> None:
    async def run() -> float:
        model = Held(usage)
        model.go.set()
        backend = metered(model, 1)
        await backend.complete(request())
        return backend.budget.spent

    assert asyncio.run(run()) == pytest.approx(spent)


def test_what_brought_no_reply_is_given_back() -> None:
    async def run() -> float:
        model = Held(error=Unanswered("the server is busy", throttled=True))
        model.go.set()
        backend = metered(model, 0.1)
        for _ in range(5):
            with pytest.raises(Unanswered, match="the server is busy"):
                await backend.complete(request())
        return backend.budget.spent

    assert asyncio.run(run()) == 0


def test_what_is_broken_off_counts_in_full() -> None:
    async def run() -> float:
        backend = metered(Held(), 1)
        task = asyncio.ensure_future(backend.complete(request()))
        await settled()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return backend.budget.spent

    assert asyncio.run(run()) == pytest.approx(0.1)


def test_what_is_broken_off_while_it_waits_counts_nothing() -> None:
    async def run() -> float:
        model = Held(Usage(5, 10))
        backend = metered(model, 0.1)
        first, waiting = (asyncio.ensure_future(backend.complete(request(number))) for number in range(2))
        await settled()
        waiting.cancel()
        model.go.set()
        await first
        return backend.budget.spent

    assert asyncio.run(run()) == pytest.approx(0.01)


def test_a_model_of_unknown_price_is_not_asked() -> None:
    model = Held()
    with pytest.raises(ModelUnavailable) as caught:
        asyncio.run(metered(model, 1, price=None).complete(request()))
    assert model.asked == 0
    assert '[tool.fcall.prices."openai:dear"]' in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_rest_is_the_back_ends_own() -> None:
    model = Held()
    backend: Backend = metered(model, 1)
    assert (backend.settings, backend.reusable, backend.ahead) == ({"temperature": 0}, False, True)
    asyncio.run(backend.close())
    assert model.closed


def test_a_server_is_sent_no_request_more_than_can_be_paid(server: Server, tmp_path: Path) -> None:
    model = Model("openai", "dear", {"base_url": server.url, "max_tokens": "10"})
    prices = f'[tool.fcall.prices."{model.id}"]\ninput = 0\noutput = 1000\n'
    (tmp_path / "pyproject.toml").write_text(prices, encoding="utf-8")
    backend = MeteredBackend(openai_backend(model, tmp_path), model.id, price_of(model, tmp_path), Budget(0.055))
    dispatcher = Dispatcher(DispatchLimits(), lambda _: None)
    requests = [
        Request(({"role": "user", "content": f"Hello {number}"},), (), backend.settings) for number in range(20)
    ]
    futures = [dispatcher.submit(Job(model.id, backend, each, request_digest(model.id, each))) for each in requests]
    errors = [error for future in futures if (error := future.exception(timeout=60))]
    dispatcher.close()
    assert len(server.asked) == 5
    assert backend.budget.spent == pytest.approx(0.05)
    assert len(errors) == 15
    assert {type(error) for error in errors} <= {OverBudget, ModelUnavailable}
    assert all("raise the limit, or shorten replies with max_tokens" in str(error) for error in errors)
