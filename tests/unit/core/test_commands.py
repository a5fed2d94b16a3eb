from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_fcall.core.commands import program_hint, with_interpreter

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="programs without an ending")
MEANT = '"{python}" in its place is '


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an environment that is not active, with the running interpreter and a program."""
    folder = tmp_path / "venv"
    for path in (folder / "python", folder / "uvicorn", tmp_path / "bin/python", tmp_path / "bin/node"):
        path.parent.mkdir(exist_ok=True)
        path.touch(0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    return folder


def test_only_a_whole_word_is_the_placeholder(environment: Path) -> None:
    python = str(environment / "python")
    assert with_interpreter(["{python}", "{python}.py", "python"]) == [python, "{python}.py", "python"]


def test_another_interpreter_is_told_from_the_running_one(environment: Path) -> None:
    bin_ = environment.parent / "bin"
    assert program_hint("python", str(bin_)).startswith(f"python is {bin_}/python; {MEANT}{environment}/python,")
    assert program_hint("python", str(environment.parent)).startswith(f"{MEANT}{environment}/python,")
    assert program_hint("python", str(environment)) == ""


def test_a_program_of_an_environment_that_is_not_active_is_found_for_the_hint(environment: Path) -> None:
    bin_ = str(environment.parent / "bin")
    assert program_hint("uvicorn", bin_).startswith(f"{environment}/uvicorn is not on PATH")
    assert program_hint("uvicorn", str(environment)) == ""
    assert program_hint("node", bin_) == ""
    assert program_hint("nothing", bin_) == ""
    assert program_hint("./uvicorn", bin_) == ""
