"""The first day of a user, after each way to install pytest-fcall."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.installs.environments import VERSIONS, Environment, by_pip, by_uv, done, python_of, users_variables
from tests.installs.project import Project
from tests.pages import ROOT

LOWEST = ("--requirements", str(ROOT / "pyproject.toml"), "--resolution=lowest-direct", "--only-binary=:all:")
"""The lowest versions that are allowed, of those that have wheels for this Python; uv is told which ones are ours."""

WANTED = [
    pytest.param((), id="newest"),
    pytest.param(LOWEST, id="lowest"),
    pytest.param(("pytest~=8.4.0",), id="pytest 8.4"),
    pytest.param(("pytest~=9.0",), id="pytest 9"),
]


@pytest.mark.parametrize("version", VERSIONS)
def test_pip_installs_it(version: str, wheel: Path, tmp_path: Path) -> None:
    Project(tmp_path / "project", by_pip(tmp_path / "venv", python_of(version), wheel)).first_day()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("wanted", WANTED)
def test_uv_installs_it(wanted: tuple[str, ...], version: str, wheel: Path, tmp_path: Path) -> None:
    Project(tmp_path / "project", by_uv(tmp_path / "venv", python_of(version), wheel, *wanted)).first_day()


def test_the_lowest_versions_on_the_oldest_python_are_those_that_are_promised(wheel: Path, tmp_path: Path) -> None:
    promised = dict(re.findall(r"^([\w-]+)==([\d.]+)$", (ROOT / "tests/lowest.txt").read_text("utf-8"), re.MULTILINE))
    packages = by_uv(tmp_path / "venv", python_of("3.11"), wheel, *LOWEST).packages()
    assert {name: Version(packages[canonicalize_name(name)]) for name in promised} == {
        name: Version(version) for name, version in promised.items()
    }


def test_pipx_installs_the_command(wheel: Path, tmp_path: Path) -> None:
    """The command brings a pytest of its own; a project whose environment has pytest-fcall is not needed."""
    variables = users_variables(PIPX_HOME=str(tmp_path / "pipx"), PIPX_BIN_DIR=str(tmp_path / "bin"))
    done("pipx", "install", "--quiet", "--python", python_of("3.11"), wheel, variables=variables)
    Project(tmp_path / "project", Environment(tmp_path / "pipx/venvs/pytest-fcall", variables)).first_day()


def test_uv_runs_it_without_an_installation(wheel: Path, tmp_path: Path) -> None:
    python = python_of("3.11")
    done("uvx", "--quiet", "--python", python, "--from", wheel, "fcall", "init", folder=tmp_path)
    ended = done("uv", "run", "--quiet", "--no-project", "--python", python, "--with", wheel, "pytest", folder=tmp_path)
    assert "6 passed" in ended
