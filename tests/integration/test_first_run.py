from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
import threading
import warnings
from pathlib import Path

import pytest

from tests import first_run
from tests.first_run import run_once

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing is forked there")


def state() -> dict[str, object]:
    """All of a process that a run could change for the next."""
    root = logging.getLogger()
    return {
        "variables": dict(os.environ),
        "folder": Path.cwd(),
        "path": [*sys.path],
        "finders": [*sys.meta_path],
        "streams": (sys.stdout, sys.stderr, sys.stdin),
        "signals": [signal.getsignal(number) for number in signal.valid_signals()],
        "logging": (root.level, [*root.handlers], logging.root.manager.disable),
        "warnings": [*warnings.filters],
        "exits": atexit._ncallbacks(),
        "bytecode": sys.dont_write_bytecode,
    }


def open_files() -> set[str]:
    """The descriptors of the process; servers of earlier tests may still close theirs."""
    return {path.name for path in Path("/dev/fd").iterdir()}


def test_a_thread_that_is_left_would_be_lost_in_forked_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    left = "import threading\nthreading.Thread(target=threading.ended.wait).start()\n"
    monkeypatch.setattr(threading, "ended", ended, raising=False)
    monkeypatch.setattr(first_run, "_ANSWERS", left + first_run._ANSWERS)
    try:
        with pytest.raises(RuntimeError, match="a process with threads cannot be forked"):
            run_once()
    finally:
        ended.set()


def test_the_first_run_leaves_nothing_that_a_later_one_could_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run_once()
    before, modules, files = state(), set(sys.modules), open_files()

    run_once()

    assert state() == before
    assert open_files() <= files
    assert set(sys.modules) == modules
    assert not [name for name, each in sys.modules.items() if str(tmp_path) in str(getattr(each, "__file__", ""))]
    assert not [*tmp_path.iterdir()]


def test_a_first_run_that_is_not_as_it_should_be_is_no_base_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_run, "_ANSWERS", "")

    with pytest.raises(RuntimeError, match="first_run_app has no 'answer'"):
        run_once()
