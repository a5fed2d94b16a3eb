"""pytest in processes of their own that start at once: they are forked from one that has imported everything."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

# What a run imports takes longer than the run.
import tests.integration.exam  # noqa: F401

_FORKING = multiprocessing.get_context("forkserver")
_FORKING.set_forkserver_preload([__name__])


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


def _run(
    folder: Path, output: Path, args: Sequence[str], environment: Mapping[str, str], largest_file: int | None
) -> None:
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    # Left open: what escapes pytest is written there by multiprocessing.
    file = output.open("w", encoding="utf-8")
    os.dup2(file.fileno(), 1)
    os.dup2(file.fileno(), 2)
    sys.stdout = sys.stderr = file
    faulthandler.register(signal.SIGUSR1, file=file)
    # A shell's background job is born deaf to Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if largest_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, resource.RLIM_INFINITY))
    sys.exit(pytest.main([*args]))
