"""The first day of a user whose machine is not as ours."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest

from tests.installs.environments import Environment, by_pip, done, python_of, run, users_variables
from tests.installs.project import Project

_ODD = "Łukasz’ cafés & données 日本"
"""A name with spaces, letters that no ASCII has, and what a shell would take for its own."""
_NOBODY = 65534
NAMESPACES = sys.platform == "linux" and os.geteuid() == 0 and which("unshare") is not None


@pytest.mark.parametrize(
    "variables",
    [
        pytest.param({"PYTHONOPTIMIZE": "2"}, id="without docstrings and assertions"),
        pytest.param({"PYTHONWARNINGS": "error"}, id="warnings are errors"),
        pytest.param({"PYTHONDEVMODE": "1", "PYTHONWARNINGS": "error"}, id="development mode"),
        pytest.param({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, id="ASCII terminal"),
        pytest.param({"PYTHONIOENCODING": "cp1252"}, id="terminal of Western Windows"),
        pytest.param({"COLUMNS": "20"}, id="narrow terminal"),
        pytest.param({"TERM": "dumb"}, id="dumb terminal"),
        pytest.param({"TZ": "Pacific/Chatham"}, id="odd hours"),
        pytest.param({"PYTHONSAFEPATH": "1"}, id="the folder is not on the path"),
        pytest.param({"PYTHONHASHSEED": "1"}, id="another order of sets"),
    ],
)
def test_variables(variables: dict[str, str], plain: Environment, tmp_path: Path) -> None:
    Project(tmp_path / "project", plain.with_variables(users_variables(**variables))).first_day()


@pytest.mark.parametrize("module", ["pytest_fcall.plugin", "pytest_fcall.cli"])
def test_an_import_warns_of_nothing(module: str, plain: Environment) -> None:
    done(*plain.command("python", "-W", "error", "-c", f"import {module}"), variables=plain.variables)


def test_encodings_are_named_wherever_files_are_opened(plain: Environment, tmp_path: Path) -> None:
    """What is read and written in the encoding of the system would be another file on Windows."""
    variables = users_variables(PYTHONWARNDEFAULTENCODING="1", PYTHONWARNINGS="error::EncodingWarning:pytest_fcall")
    Project(tmp_path / "project", plain.with_variables(variables)).first_day()


def test_odd_letters_in_every_path(wheel: Path, tmp_path: Path) -> None:
    odd = tmp_path / _ODD
    temporary = odd / "tmp"
    temporary.mkdir(parents=True)
    environment = by_pip(odd / "venv", python_of("3.11"), wheel)
    variables = users_variables(HOME=str(odd), TMPDIR=str(temporary))
    Project(odd / "my project", environment.with_variables(variables)).first_day()


def test_without_a_home(plain: Environment, tmp_path: Path) -> None:
    variables = users_variables()
    for name in ("HOME", "USER", "LOGNAME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "TMPDIR"):
        variables.pop(name, None)
    Project(tmp_path / "project", plain.with_variables(variables)).first_day()


@pytest.fixture
def someone(plain: Environment, tmp_path: Path) -> Iterator[tuple[str, ...]]:
    """The words that make a program run as somebody who may read the environment, and owns nothing."""
    if os.name == "nt" or os.geteuid() != 0:
        pytest.skip("only root may become somebody else")
    reached = [tmp_path, *tmp_path.parents, plain.folder, *plain.folder.parents]
    before = {path: path.stat().st_mode for path in reached}
    for path, mode in before.items():
        path.chmod(mode | 0o055)
    yield "setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"
    for path, mode in before.items():
        path.chmod(mode)


def test_a_home_that_cannot_be_written(plain: Environment, someone: tuple[str, ...], tmp_path: Path) -> None:
    """As in many containers, nothing can be written but the project."""
    home, folder = tmp_path / "home", tmp_path / "project"
    home.mkdir(mode=0o555)
    folder.mkdir()
    os.chown(folder, _NOBODY, _NOBODY)
    Project(folder, plain.with_variables(users_variables(HOME=str(home))), *someone).first_day()
    assert [*home.iterdir()] == []


def test_a_project_that_cannot_be_written(plain: Environment, someone: tuple[str, ...], tmp_path: Path) -> None:
    """The cases run; that nothing can be kept is said."""
    Project(tmp_path / "project", plain).begin()
    ended = Project(tmp_path / "project", plain, *someone).pytest("-p", "no:cacheprovider")
    assert "Traceback" not in ended.stdout
    assert "Permission denied" in ended.stdout


def test_a_folder_that_cannot_be_searched(plain: Environment, someone: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "project").mkdir(mode=0o700)
    ended = Project(tmp_path / "project", plain, *someone).fcall("--version")
    assert ended.returncode == 0, ended.stdout


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such terminals")
def test_a_terminal(plain: Environment, tmp_path: Path) -> None:
    """All other tests have no terminal; this one has a narrow one, with colours."""
    project = Project(tmp_path / "project", plain)
    project.begin()
    project.answer_wrongly()
    outside, inside = pty.openpty()
    command = plain.command("python", "-m", "pytest")
    variables = users_variables(TERM="xterm-256color", COLUMNS="40")
    process = subprocess.Popen(command, cwd=project.folder, env=variables, stdin=inside, stdout=inside, stderr=inside)
    os.close(inside)
    shown = b""
    while portion := _portion(outside):
        shown += portion
    os.close(outside)
    assert process.wait() == 1
    assert "wrong_value" in shown.decode()
    assert "\x1b[31m" in shown.decode()


def _portion(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # Linux says so where the other end is closed
        return b""


def test_without_a_compiler(wheel: Path, tmp_path: Path) -> None:
    """No program is found but Python, and nothing is built from source."""
    python = python_of("3.11")
    variables = users_variables(PATH=str(tmp_path / "nothing"), CC="/nowhere/cc")
    done(python, "-m", "venv", tmp_path / "venv", variables=variables)
    made = Environment(tmp_path / "venv", variables)
    done(*made.command("python", "-m", "pip", "install", "-q", "--only-binary=:all:", str(wheel)), variables=variables)
    Project(tmp_path / "project", made).first_day()


def test_offline_after_a_download(wheel: Path, tmp_path: Path) -> None:
    """What `pip download` brought is enough, on a machine that has no network but itself."""
    python, brought = python_of("3.11"), tmp_path / "brought"
    done(python, "-m", "venv", tmp_path / "venv")
    made = Environment(tmp_path / "venv")
    done(*made.command("python", "-m", "pip", "download", "-q", "--dest", str(brought), str(wheel)))
    install = made.command("python", "-m", "pip", "install", "-q", "--no-index", "--find-links", str(brought))
    offline = ["unshare", "--net"] if NAMESPACES else []
    variables = users_variables(PIP_FIND_LINKS="", PIP_CONFIG_FILE=os.devnull)
    done(*offline, *install, "pytest-fcall", variables=variables)
    if NAMESPACES:
        assert run(*offline, *made.command("python", "-m", "pip", "download", "pytest-fcall")).returncode != 0
    Project(tmp_path / "project", made, *offline).first_day()
