"""Environments as users make them: by pip, uv or pipx, of any Python that is on this machine."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

VERSIONS = ("3.11", "3.12", "3.13", "3.14", "3.14t")
"""What is promised; `t` for the build whose threads are free."""
_OURS = ("CI", "FCALL_", "GITHUB_", "HYPOTHESIS_", "PYTEST_", "PYTHON", "VIRTUAL_ENV")
"""Variables of this run that begin so are no user's."""
INSTALLERS = ("pip", "setuptools", "wheel")
"""Packages that an environment has before anything is installed."""
_OF_INSTALLERS = (*INSTALLERS, "pkg_resources", "_distutils_hack", "distutils-precedence")
_SECONDS = 600
_ASKS_VERSION = """
import sys, sysconfig
print(f"{sys.version_info[0]}.{sys.version_info[1]}" + "t" * bool(sysconfig.get_config_var("Py_GIL_DISABLED")))
"""


def users_variables(**more: str) -> dict[str, str]:
    """The variables of a user who has set nothing for Python, and these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    # pip takes wheels from folders that a machine names; uv reads another variable for the same.
    kept.setdefault("UV_FIND_LINKS", kept.get("PIP_FIND_LINKS", ""))
    return kept | {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "UV_PYTHON_DOWNLOADS": "never"} | more


def run(
    *command: str | Path, folder: Path | None = None, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end. Its output and errors are one text."""
    return subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env=users_variables() if variables is None else dict(variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="backslashreplace",
        timeout=_SECONDS,
        check=False,
    )


def done(*command: str | Path, folder: Path | None = None, variables: Mapping[str, str] | None = None) -> str:
    """Run a program that has to succeed; what it printed."""
    ended = run(*command, folder=folder, variables=variables)
    assert ended.returncode == 0, f"{command}: {ended.returncode}\n{ended.stdout}"
    return ended.stdout


@cache
def python_of(version: str) -> Path:
    """The interpreter of this version. Skips the test where the machine has none."""
    on_path = (Path(folder) / f"python{version}" for folder in os.get_exec_path())
    by_pyenv = (Path.home() / ".pyenv/versions").glob(f"{version.rstrip('t')}.*/bin/python3")
    for path in (*on_path, *by_pyenv):
        if path.exists():
            answer = run(path, "-I", "-c", _ASKS_VERSION)  # a shim of pyenv is there for versions that are not
            if answer.returncode == 0 and answer.stdout.strip() == version:
                return path
    pytest.skip(f"this machine has no Python {version}")


@dataclass(frozen=True)
class Environment:
    """A virtual environment."""

    folder: Path
    variables: Mapping[str, str] = field(default_factory=users_variables)
    """What its programs are started with."""

    @property
    def programs(self) -> Path:
        """The folder of its programs."""
        return self.folder / ("Scripts" if os.name == "nt" else "bin")

    def command(self, name: str, *arguments: str) -> list[str]:
        """A program of it with arguments."""
        return [str(self.programs / name), *arguments]

    def with_variables(self, variables: Mapping[str, str]) -> Environment:
        """The same environment, whose programs are started with other variables."""
        return Environment(self.folder, variables)

    def packages(self) -> dict[str, str]:
        """The versions of what is installed, by the names of packages; without what installs it."""
        listed = "import importlib.metadata as m; print(*(f'{d.name}=={d.version}' for d in m.distributions()))"
        names = done(*self.command("python", "-I", "-c", listed), variables=self.variables).split()
        versions = {canonicalize_name(name): version for name, version in (each.split("==") for each in names)}
        return {name: version for name, version in versions.items() if name not in INSTALLERS}


def by_pip(folder: Path, python: Path, *wanted: str | Path) -> Environment:
    """An environment that `python -m venv` and pip make."""
    done(python, "-m", "venv", folder)
    made = Environment(folder)
    done(*made.command("python", "-m", "pip", "install", "--quiet", *map(str, wanted)))
    return made


def by_uv(folder: Path, python: Path, *wanted: str | Path) -> Environment:
    """An environment that uv makes. It has no pip."""
    done("uv", "venv", "--quiet", "--python", python, folder)
    made = Environment(folder)
    done("uv", "pip", "install", "--quiet", "--python", made.command("python")[0], *wanted)
    return made


def weight(made: Environment) -> int:
    """The bytes that its packages take on the disk, as `du` counts, with compiled modules, without pip."""
    (packages,) = made.folder.glob("Lib/site-packages" if os.name == "nt" else "lib/python3*/site-packages")
    brought = (path for path in packages.iterdir() if not path.name.startswith(_OF_INSTALLERS))
    files = {each for path in brought for each in (path, *path.rglob("*"))}
    return sum(path.lstat().st_blocks * 512 for path in files)
