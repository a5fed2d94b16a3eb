"""`pytest` and `fcall` in processes of their own that start at once: forked from one that has imported everything."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

# What a run imports takes longer than the run.
import tests.integration.exam
import tests.integration.kept  # noqa: F401
from pytest_fcall.cli import main as fcall

_FORKING = multiprocessing.get_context("forkserver")
_FORKING.set_forkserver_preload([__name__])
_PROGRAMS: dict[str, Callable[[list[str]], int]] = {"fcall": fcall, "pytest": pytest.main}
_PLUGINS = ("pytest_fcall",)
"""pytest warns of plugins that are there before it could rewrite them."""


class Run:
    """A run of pytest, whose process leads a group of its own."""

    def __init__(self, folder: Path, args: Sequence[str], *, largest_file: int | None = None) -> None:
        self._output = folder / "output.txt"
        given = (folder, self._output, args, dict(os.environ), largest_file)
        self.process: BaseProcess = _FORKING.Process(target=_run, args=given)
        self.process.start()

    @property
    def pid(self) -> int:
        assert self.process.pid is not None
        return self.process.pid

    def ended(self, patience: float = 60) -> int:
        """Wait for the end, and return the exit status; where it does not end, tell what each thread is doing."""
        self.process.join(patience)
        if self.process.exitcode is None:
            os.kill(self.pid, signal.SIGUSR1)
            self.process.join(1)
            self.process.kill()
            raise AssertionError(f"the run did not end: {self.output}")
        return self.process.exitcode

    def has_written(self, text: str, patience: float = 60) -> None:
        """Return once this is in its output."""
        until = time.monotonic() + patience
        while text not in self.output:
            self.process.join(0.05)
            assert self.process.exitcode is None, self.output
            assert time.monotonic() < until, self.output

    @property
    def output(self) -> str:
        return self._output.read_text("utf-8")


def completed(
    program: str, folder: Path, arguments: Sequence[str], environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run `fcall` or `pytest` as if by `python -m` in the folder, to its end."""
    with tempfile.TemporaryDirectory() as apart:
        output, errors = Path(apart, "output"), Path(apart, "errors")
        given = (program, folder, (output, errors), arguments, dict(environment))
        process = _FORKING.Process(target=_complete, args=given)
        process.start()
        process.join(120)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired([program, *arguments], 120, output.read_bytes(), errors.read_bytes())
        written = [each.read_bytes().decode("utf-8") for each in (output, errors)]
        return subprocess.CompletedProcess([program, *arguments], process.exitcode, *written)


def _run(
    folder: Path, output: Path, args: Sequence[str], environment: Mapping[str, str], largest_file: int | None
) -> None:
    os.setsid()
    _begin(folder, (output, output), environment)
    if largest_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, resource.RLIM_INFINITY))
    sys.exit(pytest.main([*args]))


def _complete(
    program: str, folder: Path, written: tuple[Path, Path], arguments: Sequence[str], environment: Mapping[str, str]
) -> None:
    _begin(folder, written, environment)
    sys.path.insert(0, str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]  # the folder may have tests of its own
    sys.exit(_PROGRAMS[program]([*arguments]))


def _begin(folder: Path, written: tuple[Path, Path], environment: Mapping[str, str]) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    # All left open: what escapes a program is written there by multiprocessing.
    for descriptor, path in enumerate(written, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), descriptor)
    sys.stdout = open(1, "w", encoding=encoding, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding=encoding, closefd=False, errors="backslashreplace", buffering=1)  # noqa: SIM115
    faulthandler.register(signal.SIGUSR1, file=sys.stderr)
    # A shell's background job is born deaf to Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in _PLUGINS:
        plugin = sys.modules[name]
        plugin.__doc__ = f"{plugin.__doc__}\nPYTEST_DONT_REWRITE"
