"""Running `fcall` and `pytest` as people do: in a folder, and mostly as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from tests.suite_tools import WITHOUT_TOOLS

__all__ = ["completed", "fcall", "fcall_here", "in_new_pythons", "python", "run_pytest"]

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


def fcall_here(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `fcall` in this process: to fork another one takes longer.

    What a process that it starts writes, and what is written past Python's streams, is not in the output.
    """
    from pytest_fcall.cli import main

    variables = plain() | {"PYTEST_ADDOPTS": WITHOUT_TOOLS} | environment
    with TemporaryDirectory() as apart:
        written = [Path(apart, name) for name in ("output", "errors")]
        with ExitStack() as stack:
            # With descriptors, of which `fcall` may send one elsewhere.
            output, errors = (stack.enter_context(path.open("w", encoding="utf-8", newline="")) for path in written)
            stack.enter_context(_without_modules_of(folder))
            stack.enter_context(chdir(folder))
            stack.enter_context(patch.dict(os.environ, variables, clear=True))
            stack.enter_context(redirect_stdout(output))
            stack.enter_context(redirect_stderr(errors))
            try:
                status = main(arguments)
            except SystemExit as ended:
                status = int(ended.code or 0)
        return subprocess.CompletedProcess(
            ["fcall", *arguments], status, *(path.read_bytes().decode("utf-8") for path in written)
        )


@contextmanager
def _without_modules_of(folder: Path) -> Iterator[None]:
    """Forget afterwards which modules of a project were imported: the next project may have others of these names."""
    before, path = {*sys.modules}, [*sys.path]
    try:
        yield
    finally:
        sys.path[:] = path
        for name in sys.modules.keys() - before:
            module = sys.modules[name]
            places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
            if any(place and Path(place).is_relative_to(folder) for place in places):
                del sys.modules[name]


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
