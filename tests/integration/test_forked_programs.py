"""A shell finds a forked `python` to be like Python, and a command in the process of a test leaves nothing there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.command import fcall_here, plain

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="processes are forked"),
    pytest.mark.needs("bash"),
]
SCRIPT = """
import os, subprocess, sys
print(sys.argv[1:], os.environ["SAID"], os.getcwd(), sys.stdin.read(), __name__, flush=True)
print("told", file=sys.stderr, flush=True)
subprocess.run([sys.executable, "-c", "import sys; print('within', sys.argv)", "and so on"], check=True)
sys.exit(sys.argv[1] == "fail" and 7)
"""
PROGRAMS = {
    "a script": "echo in | SAID=here python script.py 'a b' '$c' >out 2>err; echo $?; cat out err",
    "its status": "SAID= python script.py fail </dev/null; echo $?",
    "code": "python -P -c 'import sys; print(sys.argv, sys.path[0] == \"\")' -P x; echo $?",
    "an error": "python -c 'raise SystemExit(\"no\")'; echo $?; python -c '1 / 0' 2>/dev/null; echo $?",
    "a signal": "{ python -c 'import os; os.kill(os.getpid(), 9)'; } 2>/dev/null; echo $?",
    "a module of the folder": "echo 'print(__name__)' >own.py; python -m own; python -P -m own 2>/dev/null; echo $?",
    "two at once": "python -c 'print(1)' | python -c 'import sys; print(sys.stdin.read())'",
    "pytest": "pytest --version",
    "fcall": "fcall lint no-such-folder; echo $?; python -P -m pytest_fcall.cli --version",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_forked_python_does_as_python_does(forked_programs: Path, tmp_path: Path, program: str) -> None:
    (tmp_path / "script.py").write_text(SCRIPT, "utf-8")
    said = [
        subprocess.run(
            ["bash", "-c", program],
            cwd=tmp_path,
            env=plain() | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=60,
            check=True,
        ).stdout
        for folder in (Path(sys.executable).parent, forked_programs)
    ]
    assert said[0] == said[1]
    assert said[0]


def test_a_command_in_the_process_of_a_test_leaves_no_module_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n", "utf-8")
    (tmp_path / "bazaar").mkdir()
    (tmp_path / "bazaar" / "tools.py").write_text("def haggle(price: int) -> None:\n    ...\n", "utf-8")
    (tmp_path / "a.fc.yaml").write_text(
        "tools: [{python: bazaar.tools}]\ncases: [{id: a, prompt: x, expect: [{haggle: {price: 1}}]}]\n", "utf-8"
    )
    path = [*sys.path]

    done = fcall_here(tmp_path, "lint")

    assert done.stdout == "1 case in 1 file: no faults\n", done
    assert not [name for name in sys.modules if name.startswith("bazaar")]
    assert sys.path == path
