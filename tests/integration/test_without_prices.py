"""Without genai-prices, runs tell once what knows the prices, and no limit on costs holds unnoticed."""

from __future__ import annotations

import sys

import pytest

from tests.by_night import by_night
from tests.integration.conftest import Shop
from tests.integration.test_inside_apps import Agent
from tests.integration.test_option_fc_max_cost import PRICES
from tests.servers import Server

NOTE = (
    'the price of openai:exam is not known: for the prices of well-known models, pip install "pytest-fcall[prices]"; '
    'or add [tool.fcall.prices."openai:exam"] to pyproject.toml'
)


@pytest.fixture(autouse=True)
def without_prices(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    """Two cases, and a server that is asked by a public name: only such servers may have a price on the list."""
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    monkeypatch.setenv("HTTP_PROXY", server.url.removesuffix("/v1"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    pytester.makefile(
        ".fc.yaml", talk="cases: [{id: a, prompt: Hello, expect: no_call}, {id: b, prompt: Hi, expect: no_call}]"
    )


def run(pytester: pytest.Pytester, *arguments: str, url: str = "http://model.example/v1") -> pytest.RunResult:
    return pytester.runpytest(f"--fc-model=openai:exam?base_url={url}", *arguments)


@pytest.mark.parametrize("workers", ["-n0", by_night("-n2")])
def test_the_summary_tells_once_what_knows_the_prices(pytester: pytest.Pytester, workers: str) -> None:
    result = run(pytester, workers)
    result.assert_outcomes(passed=2)
    assert result.ret == 0
    assert result.outlines.count(NOTE) == 1
    result.stdout.fnmatch_lines(["fcall: * 60 tokens, *"])


def test_a_dry_run_tells_it_too(pytester: pytest.Pytester) -> None:
    result = run(pytester, "--fc-dry-run")
    assert result.ret == 0
    assert result.outlines.count(NOTE) == 1


def test_a_server_of_ones_own_has_no_price_to_look_for(pytester: pytest.Pytester, server: Server) -> None:
    result = run(pytester, url=server.url)
    result.assert_outcomes(passed=2)
    result.stdout.no_fnmatch_line("*pytest-fcall?prices?*")


def test_a_price_of_ones_own_needs_no_list(pytester: pytest.Pytester) -> None:
    pytester.makepyprojecttoml(PRICES)
    result = run(pytester, "--fc-max-cost=1", "--fc-gate=cost<=0.01")
    assert result.ret == 0
    result.stdout.no_fnmatch_line("*pytest-fcall?prices?*")
    result.stdout.fnmatch_lines(["fcall: *, $0.0020, *"])


def test_a_limit_is_an_error_that_names_the_list(pytester: pytest.Pytester, server: Server) -> None:
    result = run(pytester, "--fc-max-cost=1")
    result.stderr.fnmatch_lines([f"*--fc-max-cost cannot be kept to: {NOTE.replace('[', '?').replace(']', '?')}*"])
    assert (result.ret, server.asked) == (pytest.ExitCode.USAGE_ERROR, [])


@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_a_gate_on_costs_is_undecided_and_the_list_is_named(pytester: pytest.Pytester, quiet: list[str]) -> None:
    result = run(pytester, "--fc-gate=cost<=1", *quiet)
    assert result.ret == 10
    assert result.outlines.count(NOTE) == 1
    result.stdout.fnmatch_lines(["*inconclusive: 2 replies of unknown cost*"])


def test_a_limit_on_what_an_app_asks_is_an_error_that_names_the_list(
    shop: Shop, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://model.example/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    result = Agent(shop, server).run("--fc-max-cost=1", "-k", "oslo")
    result.stdout.fnmatch_lines(["*--fc-max-cost cannot be kept to: the price of openai:exam-1 is not known: *prices*"])
    assert (result.ret, server.asked) == (10, [])
