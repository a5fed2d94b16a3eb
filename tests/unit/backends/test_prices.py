from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.prices import OwnPrice, cost_of, own_prices, price_of
from pytest_fcall.core import Model, Usage

GPT = Model("openai", "gpt-5.2")
PRICE = OwnPrice(input=2.0, output=10.0, cached=0.5)


def written(root: Path, text: str) -> Path:
    (root / "pyproject.toml").write_text(text, encoding="utf-8")
    return root


def test_a_project_gives_its_own_prices(tmp_path: Path) -> None:
    root = written(
        tmp_path,
        '[tool.fcall.prices."openai:mine"]\ninput = 2\noutput = 10.0\ncached = 0.5\n'
        '[tool.fcall.prices."local:free"]\ninput = 0\noutput = 0\n',
    )
    assert own_prices(root) == {"openai:mine": PRICE, "local:free": OwnPrice(0, 0, 0)}


@pytest.mark.parametrize("text", [None, "", "[tool.other]\nfcall = 1", "[tool.fcall.models.x]\ntemperature = 0"])
def test_a_project_need_not_give_prices(text: str | None, tmp_path: Path) -> None:
    assert own_prices(tmp_path if text is None else written(tmp_path, text)) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tool.fcall.prices.openai:x]", "pyproject.toml cannot be read: "),
        ("tool = 1", "pyproject.toml: [tool] must be a table"),
        ("[tool.fcall]\nprices = []", "pyproject.toml: [tool.fcall.prices] must be a table"),
        ('[tool.fcall.prices]\n"openai:x" = 2', '[tool.fcall.prices."openai:x"] must be a table'),
        ("[tool.fcall.prices.gpt-5.2]\ninput = 1", '[tool.fcall.prices."gpt-5"] names no model: write it in quotes'),
        (
            '[tool.fcall.prices."openai:x"]\noutput = 1',
            'pyproject.toml, [tool.fcall.prices."openai:x"] lacks `input`, US dollars for a million tokens',
        ),
        ('[tool.fcall.prices."openai:x"]\ninput = 1\noutputs = 1', "`outputs` is unknown; known are input, output"),
        ('[tool.fcall.prices."openai:x"]\ninput = 1\noutput = true', "`output` must be US dollars for a million"),
        ('[tool.fcall.prices."openai:x"]\ninput = -1\noutput = 1', "such as 1.75, not -1"),
        ('[tool.fcall.prices."openai:x"]\ninput = nan\noutput = 1', "such as 1.75, not nan"),
        ('[tool.fcall.prices."openai:x"]\ninput = "1"\noutput = 1', "such as 1.75, not '1'"),
        (f"x = {'[' * 5000}", "pyproject.toml cannot be read: "),
        (f"x = {'1' * 5000}", "pyproject.toml cannot be read: "),
    ],
)
def test_what_is_no_price_is_named_with_file_and_key(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the text is looked at below
        own_prices(written(tmp_path, text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_in_another_encoding_is_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"x = '\xff'")
    with pytest.raises(ValueError, match=r"pyproject\.toml cannot be read"):
        own_prices(tmp_path)


def test_cached_input_has_a_price_of_its_own() -> None:
    assert cost_of(PRICE, Usage(1_000_000, 100_000)) == pytest.approx(3.0)
    assert cost_of(PRICE, Usage(1_000_000, 100_000, cached_tokens=400_000)) == pytest.approx(2.4)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        Usage(),
        Usage(input_tokens=5),
        Usage(output_tokens=5),
        Usage(-1, 5),
        Usage(5, -1),
        Usage(5, 5, cached_tokens=6),
        Usage(5, 5, cached_tokens=-1),
        Usage(10**400, 5),
        Usage(5, 10**400),
    ],
)
@pytest.mark.parametrize("price", [PRICE, price_of(GPT, {})], ids=["own", "listed"])
def test_a_cost_of_unknown_or_impossible_counts_is_unknown(price: OwnPrice, usage: Usage | None) -> None:
    assert cost_of(price, usage) is None


def test_a_cost_without_a_price_is_unknown() -> None:
    assert cost_of(None, Usage(5, 5)) is None


@pytest.mark.parametrize(
    ("model", "base_url"),
    [
        (Model("openai", "gpt-4o"), None),
        (Model("openai", "gpt-4o"), "https://api.openai.com/v1"),
        (Model("openai", "openai/gpt-4o"), "https://openrouter.ai/api/v1"),
        (Model("openai", "gpt-4o"), "https://shop.openai.azure.com/openai/v1/"),
        (Model("any", "openai/gpt-4o"), None),
        (Model("any", "openrouter/openai/gpt-4o"), None),
        (Model("any", "anthropic/claude-sonnet-4-5"), None),
        (Model("any", "gemini/gemini-2.5-pro"), None),
        (Model("any", "bedrock/anthropic.claude-3-5-haiku-20241022-v1:0"), None),
        (Model("any", "mistral/mistral-large-latest"), None),
    ],
)
def test_well_known_models_have_a_price_on_the_list(model: Model, base_url: str | None) -> None:
    cost = cost_of(price_of(model, {}, base_url=base_url), Usage(1_000_000, 100_000))
    assert cost is not None
    assert 0.1 < cost < 100


@pytest.mark.parametrize(
    ("model", "base_url"),
    [
        (Model("openai", "no-such-model"), None),
        (Model("openai", "gpt-4o"), "http://localhost:8000/v1"),
        (Model("openai", "gpt-4o"), "\x00"),
        (Model("any", "ollama/gpt-4o"), None),
        (Model("any", "gpt-4o"), None),
        (Model("local", "gpt-4o"), None),
        (Model("python", "shop.agent:answer"), None),
    ],
)
def test_the_price_of_what_the_list_does_not_know_is_unknown(model: Model, base_url: str | None) -> None:
    assert price_of(model, {}, base_url=base_url) is None


def test_a_model_that_the_list_names_without_a_price_costs_not_nothing() -> None:
    price = price_of(Model("any", "cerebras/qwen-3-coder-480b"), {})
    assert price is not None
    assert cost_of(price, Usage(1000, 10)) is None


def test_the_list_knows_cached_input_and_long_prompts() -> None:
    price = price_of(Model("any", "gemini/gemini-2.5-pro"), {})
    plain, cached, long = (
        cost_of(price, usage) for usage in (Usage(1000, 0), Usage(1000, 0, cached_tokens=1000), Usage(500_000, 0))
    )
    assert plain is not None
    assert cached is not None
    assert long is not None
    assert cached < plain
    assert long > 500 * plain


def test_an_own_price_comes_before_the_list() -> None:
    assert price_of(GPT, {"openai:gpt-5.2": PRICE}) is PRICE
    assert price_of(GPT, {"openai:gpt-5.2": PRICE}, base_url="http://localhost:8000/v1") is PRICE


def test_an_alias_has_its_own_price_or_that_of_the_model_behind_it() -> None:
    alias, other = Model("openai", "fast"), OwnPrice(1, 1, 1)
    assert price_of(alias, {"openai:gpt-5.2": PRICE}, name="gpt-5.2") is PRICE
    assert price_of(alias, {"openai:fast": other, "openai:gpt-5.2": PRICE}, name="gpt-5.2") is other
    assert price_of(alias, {}, name="gpt-5.2") == price_of(GPT, {}) is not None


COUNTS = st.none() | st.integers()


@given(st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS), st.sampled_from([PRICE, price_of(GPT, {})]))
def test_a_cost_is_a_number_of_dollars_or_unknown(usage: Usage, price: OwnPrice) -> None:
    cost = cost_of(price, usage)
    assert cost is None or 0 <= cost < float("inf")


def test_the_list_is_not_loaded_where_nobody_needs_it() -> None:
    code = (
        "import sys; from pytest_fcall.backends.prices import cost_of, price_of, OwnPrice\n"
        "from pytest_fcall.core import Model, Usage\n"
        "own = {'openai:mine': OwnPrice(1, 1, 1)}\n"
        "cost_of(price_of(Model('openai', 'mine'), own), Usage(1, 1)); price_of(Model('local', 'mine'), own)\n"
        "assert 'genai_prices' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
