"""What docs/how-to/providers.md has people type, taken apart as a run does it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_fcall.backends.any import any_backend
from pytest_fcall.backends.any.backend import OPTIONS as ANY_OPTIONS
from pytest_fcall.backends.openai import openai_backend
from pytest_fcall.backends.openai.settings import OPTIONS
from pytest_fcall.backends.settings import read_entry
from pytest_fcall.backends.tool_prompts import DEFAULT_STYLE, STYLES
from pytest_fcall.core import Model
from pytest_fcall.core.extension import BackendFactory
from pytest_fcall.session.model_suggestion import model_of_provider
from pytest_fcall.session.models import parse_model

PAGE = (Path(__file__).parents[2] / "docs/how-to/providers.md").read_text(encoding="utf-8")
LINES = re.findall(r"`--fc-model=(?:'([^']+)'|([^`' ]+))`", PAGE)
TYPED = [quoted or bare for quoted, bare in LINES if "KIND" not in bare]
TABLES = "\n".join(re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
ROWS = re.findall(r"^\| \[?([^]|]+?)(?:\]\([^)]*\))? \|[^|]*\| `--fc-model='?([^`']+)'?` \|$", PAGE, re.MULTILINE)
FACTORIES: dict[str, BackendFactory] = {"openai": openai_backend, "any": any_backend}


@pytest.mark.parametrize("line", TYPED)
def test_every_line_names_a_model_that_can_be_made(line: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(TABLES, encoding="utf-8")
    model = parse_model(line, "the page", Path())
    assert FACTORIES[model.kind](model, tmp_path).ahead


@pytest.mark.parametrize(("provider", "line"), [row for row in ROWS if row[0] != "Azure OpenAI"])
def test_the_line_of_a_provider_is_the_one_that_its_name_suggests(provider: str, line: str) -> None:
    model = parse_model(line, "the page", Path())
    name = model.name.removeprefix(f"{provider.lower()}/")
    assert model_of_provider(provider, name) == line


@pytest.mark.parametrize("quoted", [quoted for quoted, _ in LINES if quoted])
def test_lines_that_a_shell_would_take_apart_are_quoted(quoted: str) -> None:
    assert set(quoted) & set("?&")


@pytest.mark.parametrize("bare", [bare for _, bare in LINES if bare])
def test_lines_without_quotes_need_none(bare: str) -> None:
    assert not set(bare) & set("?&;<>*$ ")


def test_a_name_of_one_s_own_stands_for_the_model_of_its_table(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(TABLES, encoding="utf-8")
    entry = read_entry(Model("openai", "qwen"), tmp_path, OPTIONS)
    assert entry.name == "Qwen/Qwen3-8B"
    assert entry.settings["timeout"] == 60


@pytest.mark.parametrize("name", sorted(OPTIONS.keys() | ANY_OPTIONS.keys()))
def test_every_setting_is_told(name: str) -> None:
    settings = PAGE[PAGE.index("## Settings") : PAGE.index("## Models without tools")]
    assert f"`{name}`" in settings


@pytest.mark.parametrize("style", STYLES)
def test_every_style_of_prompt_is_told(style: str) -> None:
    styles = PAGE[PAGE.index("## Models without tools") : PAGE.index("## What is sent of a tool")]
    assert f"`{style}`" in styles


def test_the_prompt_is_shown_as_it_is() -> None:
    shown = re.search(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert shown
    assert shown[1].rstrip("\n") == STYLES[DEFAULT_STYLE].instructions.substitute(tools="…")
