"""What docs/how-to/local-models.md and serving.md have people set, taken apart as a run does it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_fcall.backends.local.aliases import ALIASES
from pytest_fcall.backends.local.settings import OPTIONS
from pytest_fcall.backends.openai import openai_backend
from pytest_fcall.backends.servers.command import is_command
from pytest_fcall.backends.settings import read_entry
from pytest_fcall.core import Model
from pytest_fcall.session.models import parse_model

DOCS = Path(__file__).parents[2] / "docs/how-to"
LOCAL = (DOCS / "local-models.md").read_text(encoding="utf-8")
SERVING = (DOCS / "serving.md").read_text(encoding="utf-8")
TOML = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", OPTIONS)
def test_every_setting_is_told(name: str) -> None:
    assert re.search(rf"^\|.*`{name}`.*\|$", LOCAL, re.MULTILINE)


@pytest.mark.parametrize("alias", ALIASES)
def test_every_alias_is_told(alias: str) -> None:
    assert f"`{alias}`" in LOCAL[LOCAL.index("## Aliases") :]


def test_no_alias_is_told_that_there_is_not() -> None:
    told = re.findall(r"`([\w.-]+)`", LOCAL[LOCAL.index("## Aliases") :])
    assert set(told) == ALIASES.keys()


@pytest.mark.parametrize("name", ["qwen3-8b", "ours"])
def test_the_entries_of_local_models_can_be_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("\n".join(TOML.findall(LOCAL)), encoding="utf-8")
    assert read_entry(Model("local", name), tmp_path, OPTIONS).settings


def test_the_entry_of_a_server_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("\n".join(TOML.findall(SERVING)), encoding="utf-8")
    assert openai_backend(Model("openai", "qwen"), tmp_path).ahead


@pytest.mark.parametrize("line", re.findall(r"`--fc-model='([^']+)'`", SERVING))
def test_the_line_names_a_model_that_can_be_made(line: str) -> None:
    assert openai_backend(parse_model(line, "the page", Path()), Path()).ahead


@pytest.mark.parametrize("command", re.findall(r"^\| [\w.]+ \| `([^`]*\{port\}[^`]*)` \|$", SERVING, re.MULTILINE))
def test_each_command_can_be_started_at_a_port(command: str) -> None:
    assert is_command(command)
