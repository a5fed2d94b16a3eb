from __future__ import annotations

import concurrent.futures.thread
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread
from threading import enumerate as threads

from pytest_fcall.suites.bfcl.call_process import CallProcess
from pytest_fcall.suites.bfcl.executable import start_function_process

PATIENCE = 60
CALL_AT_MODULE_LEVEL = """
from pytest_fcall.suites.bfcl.executable import start_function_process

process = start_function_process()
assert process.call("execute", {"source": "math_factorial(n=3)"}).value == 6
"""


def called() -> tuple[CallProcess, Thread]:
    """A process that has carried out a call, and the thread that waits for it."""
    before = threads()
    process = start_function_process()
    assert process.call("execute", {"source": "math_factorial(n=3)"}).value == 6
    (thread,) = (each for each in threads() if each not in before and each.name == "fcall-bfcl")
    return process, thread


def test_code_that_the_collector_interrupts_does_not_wait_for_the_end() -> None:
    process, thread = called()
    owners = [process]
    del process
    collection = Thread(target=owners.clear)
    with concurrent.futures.thread._global_shutdown_lock:  # what starts a thread holds it, and the end starts one
        collection.start()
        collection.join(PATIENCE)
        assert not collection.is_alive()
        assert thread.is_alive()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_the_end_of_python_waits_for_the_end(tmp_path: Path) -> None:
    elsewhere = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(tmp_path))
    command = [sys.executable, "-c", CALL_AT_MODULE_LEVEL]
    subprocess.run(command, check=True, timeout=PATIENCE, env={**os.environ, **elsewhere})
    assert not list(tmp_path.iterdir()), "the folder of the process is still there"
