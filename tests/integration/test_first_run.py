from __future__ import annotations

import atexit
import json
import logging
import os
import signal
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from types import ModuleType

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
        "files": sorted(path.name for path in Path("/dev/fd").iterdir()),
        "modules": sorted(sys.modules),
    }


def write_what_a_second_run_changes(_: object, folder: Path, changes: Path) -> None:
    """Run twice, in a process where nothing else is at work, with temporary files in the folder."""
    tempfile.tempdir = str(folder)
    run_once()
    before = state()
    run_once()
    after = state()
    changed = {name: [ascii(each[name]) for each in (before, after)] for name in before if before[name] != after[name]}
    ours = [name for name, each in sys.modules.items() if str(folder) in str(getattr(each, "__file__", ""))]
    changes.write_text(json.dumps([changed, ours]), "utf-8")


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


def test_the_first_run_leaves_nothing_that_a_later_one_could_see(forked: ModuleType, tmp_path: Path) -> None:
    folder, changes = tmp_path / "folder", tmp_path / "changes"
    folder.mkdir()
    process = forked.started_with((), write_what_a_second_run_changes, folder, changes)
    process.join(60)
    assert process.exitcode == 0
    assert json.loads(changes.read_text("utf-8")) == [{}, []]
    assert not [*folder.iterdir()]


def test_a_first_run_that_is_not_as_it_should_be_is_no_base_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_run, "_ANSWERS", "")

    with pytest.raises(RuntimeError, match="first_run_app has no 'answer'"):
        run_once()
