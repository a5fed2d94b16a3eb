from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcall.backends.costs import BatchPrice, NoPriceList, OwnPrice, cost_of, own_prices, price_of
from pytest_fcall.core import Model, Usage

GPT = Model("openai", "gpt-5.2")
PRICE = OwnPrice(input=2.0, output=10.0, cached=0.5)
LISTED = price_of(GPT, Path(__file__).parent)


@pytest.fixture(autouse=True)
def official_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


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
        ("[tool.fcall.prices.gpt-5.2]\ninput = 1", '[tool.fcall.prices."gpt-5"] needs a model in quotes'),
        (
            '[tool.fcall.prices."openai:x"]\noutput = 1',
            'pyproject.toml, [tool.fcall.prices."openai:x"] needs `input`, US dollars per million tokens',
        ),
        (
            '[tool.fcall.prices."openai:x"]\ninput = 1\noutputs = 1',
            "`outputs` is not a setting; available: input, ",
        ),
        ('[tool.fcall.prices."openai:x"]\ninput = 1\noutput = true', "`output` must be US dollars per million"),
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
@pytest.mark.parametrize("price", [PRICE, LISTED], ids=["own", "listed"])
def test_a_cost_of_unknown_or_impossible_counts_is_unknown(price: OwnPrice, usage: Usage | None) -> None:
    assert cost_of(price, usage) is None


def test_a_cost_without_a_price_is_unknown() -> None:
    assert cost_of(None, Usage(5, 5)) is None


def on(url: str, name: str = "gpt-4o") -> Model:
    return Model("openai", name, {"base_url": url})


@pytest.mark.parametrize(
    "model",
    [
        Model("openai", "gpt-4o"),
        on("https://api.openai.com/v1"),
        on("https://openrouter.ai/api/v1", "openai/gpt-4o"),
        on("https://shop.openai.azure.com/openai/v1/"),
        Model("any", "openai/gpt-4o"),
        Model("any", "openrouter/openai/gpt-4o"),
        Model("any", "anthropic/claude-sonnet-4-5"),
        Model("any", "gemini/gemini-2.5-pro"),
        Model("any", "bedrock/anthropic.claude-3-5-haiku-20241022-v1:0"),
        Model("any", "mistral/mistral-large-latest"),
    ],
    ids=str,
)
def test_well_known_models_have_a_price_on_the_list(model: Model, tmp_path: Path) -> None:
    cost = cost_of(price_of(model, tmp_path), Usage(1_000_000, 100_000))
    assert cost is not None
    assert 0.1 < cost < 100


@pytest.mark.parametrize(
    "model",
    [
        Model("openai", "no-such-model"),
        on("http://localhost:8000/v1"),
        Model("any", "ollama/gpt-4o"),
        Model("any", "gpt-4o"),
        Model("local", "gpt-4o"),
        Model("python", "shop.agent:answer"),
    ],
    ids=str,
)
def test_the_price_of_what_the_list_does_not_know_is_unknown(model: Model, tmp_path: Path) -> None:
    assert price_of(model, tmp_path) is None


@pytest.mark.parametrize("model", [GPT, on("https://openrouter.ai/api/v1"), Model("any", "openai/gpt-4o")], ids=str)
def test_whoever_has_no_list_is_told_how_to_get_it(
    model: Model, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    with pytest.raises(NoPriceList, match=r'pip install "pytest-fcall\[prices\]"; or add \[tool\.fcall\.prices'):
        price_of(model, tmp_path)
    own = f'[tool.fcall.prices."{model.id}"]\ninput = 2\noutput = 10\ncached = 0.5\n'
    assert price_of(model, written(tmp_path, own)) == PRICE


@pytest.mark.parametrize(
    "host", ["localhost:8000", "127.0.0.1:8000", "[::1]:8000", "192.168.1.7", "10.0.0.1:1", "gpu-box"]
)
def test_a_server_of_ones_own_is_not_looked_for_on_the_list(
    host: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert price_of(on(f"http://{host}/v1"), tmp_path) is None
    assert price_of(Model("local", "gpt-4o"), tmp_path) is None


def test_the_environment_may_lead_to_a_server_without_prices(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:8000/v1")
    assert price_of(GPT, tmp_path) is None


def test_a_model_that_the_list_names_without_a_price_costs_not_nothing(tmp_path: Path) -> None:
    price = price_of(Model("any", "cerebras/qwen-3-coder-480b"), tmp_path)
    assert price is not None
    assert cost_of(price, Usage(1000, 10)) is None


def test_the_list_knows_cached_input_and_long_prompts(tmp_path: Path) -> None:
    price = price_of(Model("any", "gemini/gemini-2.5-pro"), tmp_path)
    plain, cached, long = (
        cost_of(price, usage) for usage in (Usage(1000, 0), Usage(1000, 0, cached_tokens=1000), Usage(500_000, 0))
    )
    assert plain is not None
    assert cached is not None
    assert long is not None
    assert cached < plain
    assert long > 500 * plain


OWN = '[tool.fcall.prices."openai:gpt-5.2"]\ninput = 2\noutput = 10\ncached = 0.5\n'
ALIAS = '[tool.fcall.models.fast]\nmodel = "openai:gpt-5.2"\n'


@pytest.mark.parametrize("model", [GPT, on("http://localhost:8000/v1", "gpt-5.2")], ids=str)
def test_an_own_price_comes_before_the_list(model: Model, tmp_path: Path) -> None:
    assert price_of(model, written(tmp_path, OWN)) == PRICE


@pytest.mark.parametrize("kind", ["local", "python", "mine"])
def test_models_of_any_kind_may_have_an_own_price(kind: str, tmp_path: Path) -> None:
    root = written(tmp_path, f'[tool.fcall.prices."{kind}:x"]\ninput = 0\noutput = 0\n')
    assert price_of(Model(kind, "x"), root) == OwnPrice(0, 0, 0)


def test_an_alias_has_its_own_price_or_that_of_the_model_behind_it(tmp_path: Path) -> None:
    alias = Model("openai", "fast")
    assert price_of(alias, written(tmp_path, ALIAS)) == price_of(GPT, tmp_path) is not None
    assert price_of(alias, written(tmp_path, ALIAS + OWN)) == PRICE
    other = '[tool.fcall.prices."openai:fast"]\ninput = 1\noutput = 1\n'
    assert price_of(alias, written(tmp_path, ALIAS + OWN + other)) == OwnPrice(1, 1, 1)


def test_batches_cost_what_the_list_says_or_a_share_of_the_usual_price() -> None:
    usage = Usage(1_000_000, 1_000_000)
    own = OwnPrice(2, 8, 1)
    assert cost_of(BatchPrice(own, 0.5), usage) == 5
    assert cost_of(BatchPrice(own, 0.5), Usage(1_000_000, 0, 1_000_000)) == 0.5
    assert LISTED is not None
    listed, usual = cost_of(BatchPrice(LISTED, 0.5), usage), cost_of(LISTED, usage)
    assert listed is not None
    assert usual is not None
    assert 0 < listed < usual
    assert cost_of(BatchPrice(LISTED, 0.5), Usage(None, 1)) is None


COUNTS = st.none() | st.integers()


@given(st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS), st.sampled_from([PRICE, LISTED]))
def test_a_cost_is_a_number_of_dollars_or_unknown(usage: Usage, price: OwnPrice) -> None:
    cost = cost_of(price, usage)
    assert cost is None or 0 <= cost < float("inf")


def test_the_list_is_not_loaded_where_nobody_needs_it(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from pytest_fcall.backends.costs import cost_of, price_of\n"
        "from pytest_fcall.core import Model, Usage\n"
        "root = Path(sys.argv[1])\n"
        "assert cost_of(price_of(Model('openai', 'gpt-5.2'), root), Usage(1, 1))\n"
        "assert price_of(Model('local', 'mine'), root) is None\n"
        "assert not {'genai_prices', 'openai', 'pydantic'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code, written(tmp_path, OWN)], check=True)
