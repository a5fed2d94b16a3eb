"""What apps ask of models costs money: it is told, kept, and counts for the limit."""

from __future__ import annotations

import json

import pytest

from tests.integration.conftest import Shop
from tests.integration.test_inside_apps import Agent
from tests.integration.test_option_fc_max_cost import PRICES
from tests.servers import Server


@pytest.fixture
def app(shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch) -> Agent:
    """An app that asks twice for each of two cases; a reply costs $0.001."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    shop.pytester.makepyprojecttoml(PRICES.replace("exam", "exam-1"))
    return Agent(shop, server)


def test_tokens_and_dollars_of_what_an_app_asks_are_those_of_the_app(app: Agent) -> None:
    result = app.run("--fc-gate=cost<=0.004")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "python:agent:answer sent 4 requests to openai:exam-1, 120 tokens, $0.0040",
            "fcall: python:agent:answer 2/2 right (100.0 % *), *120 tokens, $0.0040, 2 asked",
        ]
    )
    (run,) = app.path.glob(".fcall/runs/*.json")
    kept = json.loads(run.read_text("utf-8"))["results"]["results"][0]
    assert (kept["cost"], kept["usage"]["input_tokens"]) == (0.002, 40)
    assert [(each["model"], each["requests"], each["cost"]) for each in kept["inside"]] == [("openai:exam-1", 2, 0.002)]
    app.change('"content": "Well?"', '"content": "And?"')
    app.run().stdout.fnmatch_lines(
        [
            "python:agent:answer sent 4 requests to openai:exam-1, 120 tokens, $0.0040, 2 replayed",
            "fcall: *, 120 tokens, $0.0040 ($0.0020 now), 2 asked, in part replayed (under 2 minutes old)",
        ]
    )
    app.run("--fc-replay").stdout.fnmatch_lines(["fcall: *, 120 tokens, $0.0040, all 2 replayed (under 2 minutes old)"])


def test_an_app_asks_no_more_than_may_be_paid(app: Agent) -> None:
    app.change("tools=request.tools)", "tools=request.tools, max_tokens=10)")
    app.change('"content": "Well?"}])', '"content": "Well?"}], max_tokens=10)')
    told = app.run("--fc-max-cost=0.0175")  # a request with tools could cost $0.0162
    assert len(app.server.asked) == 2
    told.assert_outcomes(passed=1, errors=1)
    assert told.ret == 10
    told.stdout.fnmatch_lines(
        ["*--fc-max-cost is $0.0175, of which * are left, but the next request to openai:exam-1*"]
    )
    assert app.run("--fc-max-cost=0.05").ret == 0
    assert len(app.server.asked) == 4


def test_an_app_that_asks_a_model_without_a_price_cannot_be_held_to_a_limit(app: Agent) -> None:
    (app.path / "pyproject.toml").unlink()
    told = app.run("--fc-max-cost=1", app="careless")
    told.stdout.fnmatch_lines(["*--fc-max-cost needs the price of openai:exam-1, which is unknown: add *"])
    assert (told.ret, app.server.asked) == (10, [])
