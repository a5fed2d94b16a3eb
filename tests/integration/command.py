"""Running `fcall` and `pytest` as people do: in a folder, as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.suite_tools import WITHOUT_TOOLS

__all__ = ["completed", "fcall", "in_new_pythons", "python", "run_pytest"]

if sys.platform != "win32":
    from tests.forked import completed
else:

    def completed(
        program: str, folder: Path, arguments: tuple[str, ...], environment: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        module = {"fcall": "pytest_fcall.cli"}.get(program, program)
        return python(folder, "-m", module, *arguments, **environment)


def fcall(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return completed("fcall", folder, arguments, plain() | {"PYTEST_ADDOPTS": WITHOUT_TOOLS} | environment)


def in_new_pythons(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `fcall`, and modules that it runs in processes of their own, in Pythons from their very start."""
    return python(folder, "-m", "pytest_fcall.cli", *arguments, PYTEST_ADDOPTS=WITHOUT_TOOLS, **environment)


def run_pytest(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return completed("pytest", folder, arguments, plain() | {"PYTEST_ADDOPTS": WITHOUT_TOOLS} | environment)


def python(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python from its very start."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=plain() | {"PYTHONIOENCODING": "utf-8"} | environment,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def plain() -> dict[str, str]:
    """The variables of this process, but those of the run that it is in."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV", "GITHUB"))}
