"""The wheel, built once, and an environment with nothing but it. `make test-installs` brings uv and pipx."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import which

import pytest

from tests.installs.environments import Environment, by_pip, done, python_of
from tests.pages import ROOT

if None in map(which, ("uv", "pipx")):
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    done("uv", "build", "--quiet", "--wheel", "--python", sys.executable, "--out-dir", folder, ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def plain(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """What `pip install pytest-fcall` gives on the oldest Python. Tests leave it as it is."""
    return by_pip(tmp_path_factory.mktemp("plain") / "venv", python_of("3.11"), wheel)
