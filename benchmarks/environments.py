"""Fresh virtual environments: what somebody has who installs pytest-fcall, or pytest and nothing else.

They are kept below `.venv-bench/` and made anew when what they hold changes. A package that several of them have is of
the same version in all, so that only what is measured differs.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from email.parser import Parser
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import QUIET

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".venv-bench"


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment."""

    folder: Path

    def pytest(self, *arguments: str) -> list[str]:
        """A pytest run that finds this environment's packages, whatever PYTHONPATH says."""
        return self.python("-m", "pytest", *QUIET, *arguments)

    def pip(self, *arguments: str) -> str:
        """Run pip; its output."""
        command = self.python("-m", "pip", *arguments)
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def python(self, *arguments: str) -> list[str]:
        """This environment's Python."""
        return [str(self.folder / "bin" / "python"), "-I", *arguments]


def of_checkout() -> Environment:
    """An environment with the checkout as it is, committed or not."""
    with TemporaryDirectory() as folder:
        return _with_wheel("checkout", _wheel(ROOT, Path(folder)), "")


def of_commit(commit: str, name: str, checkout: Environment) -> Environment:
    """An environment with what a commit holds; packages have the versions that they have beside the checkout."""
    with TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        subprocess.run(["git", "archive", "--format=tar", f"--output={folder}/tar", commit], cwd=ROOT, check=True)
        with tarfile.open(f"{folder}/tar") as archive:
            archive.extractall(source, filter="data")
        return _with_wheel(name, _wheel(source, Path(folder)), _versions(checkout))


def bare(checkout: Environment) -> Environment:
    """An environment with pytest and PyYAML, in the versions that they have beside the checkout."""
    return _with_packages("bare", ["pytest", "PyYAML"], _versions(checkout))


def pytest_html() -> Environment:
    """An environment with pytest-html."""
    return _with_packages("pytest-html", ["pytest", "pytest-html"], "")


def _versions(environment: Environment) -> str:
    return environment.pip("freeze", "--exclude=pytest-fcall")


def _wheel(source: Path, folder: Path) -> Path:
    builder = _with_packages("builder", [], "")
    builder.pip("wheel", "--quiet", "--no-deps", f"--wheel-dir={folder}", str(source))
    (wheel,) = folder.glob("*.whl")
    return wheel


def _with_wheel(name: str, wheel: Path, constraints: str) -> Environment:
    environment = _with_packages(name, _requirements(wheel), constraints)
    environment.pip("install", "--quiet", "--no-deps", "--force-reinstall", str(wheel))
    return environment


def _requirements(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode(), headersonly=True)
    return [each for each in metadata.get_all("Requires-Dist", []) if "extra ==" not in each]


def _with_packages(name: str, packages: Sequence[str], constraints: str) -> Environment:
    environment = Environment(FOLDER / name)
    holds = "\n".join((sys.version, *packages, constraints))
    note = environment.folder / "holds.txt"
    if not note.exists() or note.read_text() != holds:
        venv.create(environment.folder, clear=True, with_pip=True)
        (environment.folder / "constraints.txt").write_text(constraints)
        if packages:
            environment.pip("install", "--quiet", f"--constraint={environment.folder / 'constraints.txt'}", *packages)
        note.write_text(holds)
    return environment
